//! What is seen of the story: requests, answers, and whether promises were kept.

use serde_json::{Value, json};
use tether_transport::client::{Answer, Client, ClientError};

use crate::cli::say;

/// Shows requests and answers, and counts what was not as promised.
pub(super) struct Stage {
    voice: Voice,
    promises: usize,
    failures: usize,
}

/// To whom it speaks.
#[derive(Clone, Copy)]
enum Voice {
    People,
    Programs,
    Nobody,
}

/// An answer: its HTTP status and its body.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) http: u16,
    pub(super) body: Value,
}

impl Seen {
    /// A member of the body as text; empty where there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_default()
    }
}

impl Stage {
    pub(super) fn new(json: bool) -> Self {
        let voice = if json { Voice::Programs } else { Voice::People };
        Self { voice, promises: 0, failures: 0 }
    }

    /// A stage that nobody sees, for what is looked at again and again.
    pub(super) fn silent() -> Self {
        Self { voice: Voice::Nobody, promises: 0, failures: 0 }
    }

    /// Begins a scene.
    pub(super) fn scene(&self, title: &str) {
        self.print(json!({ "scene": title }), || format!("\n── {title}\n"));
    }

    /// Tells what happens outside of requests.
    pub(super) fn note(&self, text: &str) {
        self.print(json!({ "note": text }), || format!("   {text}"));
    }

    /// A promise, and whether it was kept.
    pub(super) fn promise(&mut self, kept: bool, text: &str) {
        self.promises += 1;
        self.failures += usize::from(!kept);
        let mark = if kept { "✓" } else { "✗ NOT KEPT:" };
        self.print(json!({ "promise": text, "kept": kept }), || format!("   {mark} {text}"));
    }

    pub(super) async fn get(&self, client: &Client, path: &str) -> anyhow::Result<Seen> {
        self.show_request("GET", path, "");
        let answer = client.get(path).await;
        self.show_answer(answer)
    }

    pub(super) async fn post(&self, client: &Client, path: &str, body: Value) -> anyhow::Result<Seen> {
        self.show_request("POST", path, &body.to_string());
        let answer = client.post(path, body.to_string(), &[]).await;
        self.show_answer(answer)
    }

    fn show_request(&self, method: &str, path: &str, body: &str) {
        let request = format!("{method} /{path} {body}");
        self.print(json!({ "request": request.trim_end() }), || format!("   → {}", request.trim_end()));
    }

    fn show_answer(&self, answer: Result<Answer, ClientError>) -> anyhow::Result<Seen> {
        let answer = answer?;
        let body: Value = serde_json::from_str(&answer.body)?;
        self.print(json!({ "status": answer.status, "answer": body }), || {
            format!("   ← {} {}", answer.status, brief(&body))
        });
        Ok(Seen { http: answer.status, body })
    }

    /// Says how it went.
    pub(super) fn close(&self) {
        let kept = self.promises - self.failures;
        self.print(json!({ "promises": self.promises, "kept": kept }), || {
            format!("\n{kept} of {} promises kept", self.promises)
        });
    }

    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    fn print(&self, machine: Value, people: impl FnOnce() -> String) {
        match self.voice {
            Voice::People => say(people()),
            Voice::Programs => say(machine.to_string()),
            Voice::Nobody => {}
        }
    }
}

/// The members that the story is about; `--json` has them all.
fn brief(body: &Value) -> String {
    const SHOWN: [&str; 11] = [
        "status",
        "code",
        "preview",
        "attemptsUsed",
        "attempts",
        "result",
        "errorCode",
        "errorMessage",
        "detail",
        "effect",
        "actionId",
    ];
    let Value::Object(members) = body else { return body.to_string() };
    let known: serde_json::Map<_, _> = SHOWN
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    Value::Object(known).to_string()
}
