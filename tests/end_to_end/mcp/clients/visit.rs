//! What every client does; its half of it is `tests/mcp/visit.mjs` or `client.py`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Log, Server, Setup};

/// How a client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Http,
    /// A process of the client's own, `tether mcp`.
    Stdio,
}

/// What a client starts to speak with `server` on standard input and output.
pub(super) fn bridge(server: &Server) -> [String; 6] {
    let url = format!("http://{}", server.api.address);
    let data = server.setup.data().to_string_lossy().into_owned();
    [env!("CARGO_BIN_EXE_tether"), "mcp", "--url", &url, "--data-dir", &data].map(str::to_owned)
}

/// The page where people decide about an action.
pub(super) fn page(server: &Server, action: &str) -> String {
    format!("http://{}/inbox/actions/{action}", server.api.address)
}

/// A client at work, killed with its test.
struct Visitor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    log: Log,
}

impl Visitor {
    fn start(mut command: Command, asked: &Value) -> Self {
        command.arg(asked.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client can be started");
        let log = Log::of(child.stderr.take().expect("its standard error is ours"));
        let input = child.stdin.take().expect("its standard input is ours");
        let output = BufReader::new(child.stdout.take().expect("its standard output is ours"));
        Self { child, input, output, log }
    }

    /// The next line of what it saw.
    #[track_caller]
    fn saw(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it can be heard");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("it saw nothing: {line:?}"))
    }

    /// Tells it that the person has decided.
    fn go_on(&mut self) {
        self.input.write_all(b"\n").expect("it listens");
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the client said:\n{}", self.log.whole());
        }
    }
}

/// A visit of the client that `command` is, in this `mode` where it has several.
#[track_caller]
pub(super) fn check_a_visit(over: Over, mode: &str, command: impl FnOnce() -> Option<Command>) {
    let Some(command) = command() else { return };
    let server = Setup::of(&["probe"]).start();
    let note = format!("a note over {over:?}");
    let mut asked = json!({ "key": note, "mode": mode });
    match over {
        Over::Http => {
            asked["url"] = format!("http://{}/mcp", server.api.address).into();
            asked["token"] = server.api.token.as_str().into();
        }
        Over::Stdio => asked["command"] = json!(bridge(&server)),
    }
    let mut visitor = Visitor::start(command, &asked);

    let seen = visitor.saw();
    let tools = seen["tools"].as_array().expect("a list");
    for tool in ["probe_echo", "probe_write", "tether_actions"] {
        assert!(tools.iter().any(|listed| listed == tool), "{tools:?}");
    }
    assert_eq!(seen["hint"], true, "of a read");
    assert_eq!(seen["echo"], r#"{"integer":9007199254740993,"text":"👩‍🚀","empty":{},"none":null}"#);
    assert_eq!(seen["emoji"], "👩‍🚀");
    let big = seen["big"].as_str().expect("a text");
    assert!(big.len() == 249_998 && big.starts_with("xxx") && big.ends_with("x😀"), "{}", big.len());
    let action = seen["action"].as_str().expect("an action");
    assert_eq!(seen["again"], action, "one key");
    assert!(seen["proposed"].as_str().is_some_and(|text| text.starts_with("Nothing is done yet.")), "{seen}");
    assert_eq!(seen["pages"], json!([page(&server, action)]), "a person was shown where to decide, once");
    assert!(server.effects().is_empty());

    let result = server.api.confirm(action, "{}").check("200 Succeeded").raw("result").to_owned();
    visitor.go_on();
    let seen = visitor.saw();
    assert_eq!(seen["status"], "Succeeded");
    assert_eq!(seen["done"], format!("Done. Action {action} of probe_write ran once, and gave: {result}"));
    let effects = server.effects();
    assert!(effects.len() == 1 && effects[0].key == action && effects[0].note == note, "{effects:?}");
    assert!(visitor.child.wait().expect("it can be waited for").success());
}
