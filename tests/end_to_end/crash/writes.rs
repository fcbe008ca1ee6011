//! The writes whose host dies, and what they leave outside of it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{Effect, Received, Reply, Setup, Upstream, component};

/// A write that is confirmed until it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// A step, and the main transaction.
    Steps,
    /// The same by a handler that looks first what it has done.
    LookFirst,
    /// A request through `tether:tool/transport` under a step, and the main transaction.
    Request,
    /// A request through `wasi:http`, and no transaction.
    Fetch,
    /// A call of an endpoint.
    Endpoint,
}

/// The tools of the endpoint.
pub(super) const TOOLS: &str = r#"[{"name": "remote_write", "effect": "write", "description": "Writes.", "inputSchema": {"type": "object"}}]"#;

impl Write {
    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Steps => "probe_steps",
            Self::LookFirst => "probe_look_first",
            Self::Request => "probe_send_then_write",
            // The host sends the first of its two, and denies the second.
            Self::Fetch => "probe_fetch_twice",
            Self::Endpoint => "remote_write",
        }
    }

    pub(super) fn arguments(self, upstream: &Upstream) -> String {
        let post = json!({ "method": "POST", "url": upstream.url("/refunds") });
        match self {
            Self::Steps => json!({ "steps": 1 }),
            Self::LookFirst | Self::Endpoint => json!({}),
            Self::Request => json!({ "method": post["method"], "url": post["url"], "step": "refund" }),
            Self::Fetch => post,
        }
        .to_string()
    }

    /// The notes of the rows that it leaves, once it is done.
    pub(super) fn rows(self) -> &'static [&'static str] {
        match self {
            Self::Steps => &["step-1", "main"],
            Self::LookFirst => &["step", "main"],
            Self::Request => &["200"],
            Self::Fetch | Self::Endpoint => &[],
        }
    }

    /// The row that its main record is about, if it has one.
    pub(super) fn main_row(self) -> Option<&'static str> {
        self.rows().last().copied()
    }

    pub(super) fn sends(self) -> bool {
        matches!(self, Self::Request | Self::Fetch | Self::Endpoint)
    }

    /// A gateway that serves it.
    pub(super) fn setup(self, upstream: &Upstream) -> Setup {
        let setup = Setup::of(&[]);
        let config = match self {
            Self::Endpoint => {
                let tools = setup.folder().file("tools.json", TOOLS);
                format!("[[endpoints]]\nurl = \"{}\"\ntools = {tools:?}\n", upstream.url("/tools"))
            }
            _ => format!(
                "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
                 [[components.outbound]]\norigin = \"{}\"\nmethods = [\"POST\"]\n",
                component("probe"),
                upstream.origin()
            ),
        };
        setup.config("tether.toml", &config)
    }
}

/// The system that writes reach. It answers each request alike: one with a key that it
/// knows would do nothing more there.
pub(super) fn upstream() -> Upstream {
    Upstream::always(Reply::Answer(200, "Content-Type: application/json\r\n", "{\"id\":1}".to_owned()))
}

/// What one action has left outside of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outside {
    /// Rows in its database.
    pub(super) rows: Vec<Effect>,
    /// Requests that came to the upstream.
    pub(super) requests: usize,
}

impl Outside {
    /// The notes of the rows, in order; each once, or something was done twice.
    #[track_caller]
    pub(super) fn notes(&self, when: &str) -> Vec<&str> {
        let notes: Vec<_> = self.rows.iter().map(|effect| effect.note.as_str()).collect();
        let once = BTreeSet::from_iter(&notes);
        assert_eq!(notes.len(), once.len(), "{when}: done twice: {:?}", self.rows);
        notes
    }
}

/// Every request of an action has one key, by which the upstream knows it.
#[track_caller]
pub(super) fn check_keys(write: Write, requests: &[Received], id: &str, when: &str) {
    let keys = BTreeSet::from_iter(requests.iter().map(Received::key));
    assert!(keys.len() <= 1, "{when}: one write, one key: {keys:?}");
    let has_step = write == Write::Request;
    assert!(keys.iter().all(|key| (*key != id) == has_step), "{when}: a step has a key of its own: {keys:?}");
}
