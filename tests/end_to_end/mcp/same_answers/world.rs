//! A gateway, and every way in which an agent may call it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::mcp::BOTH;
use crate::mcp::client::{Client, STATELESS, Told};
use crate::support::{Received, Reply, Server, Setup, Upstream, component};

/// Tools of an endpoint that promise nothing about their output.
const TOOLS: &str = r#"[
    {"name": "remote_read", "effect": "read", "description": "Says it.", "inputSchema": {"type": "object"}},
    {"name": "remote_write", "effect": "write", "description": "Says it.", "inputSchema": {"type": "object"}}
]"#;

/// Every revision that is spoken.
const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", STATELESS];

pub(super) struct World {
    pub(super) server: Server,
    pub(super) ways: Vec<Way>,
}

/// A system that is busy at `/busy`, hangs up at `/cut`, and otherwise says what a call's
/// argument `answer` is, to the letter.
pub(super) fn upstream() -> Upstream {
    Upstream::start(|_, request| match request.path.as_str() {
        "/busy" => Reply::Answer(503, "Retry-After: 120\r\n", String::new()),
        "/cut" => Reply::Cut,
        _ => Reply::ok(&answer_in(request)),
    })
}

fn answer_in(request: &Received) -> String {
    #[derive(Deserialize)]
    struct Call {
        args: Arguments,
    }
    #[derive(Deserialize)]
    struct Arguments {
        answer: Box<RawValue>,
    }
    let call: Call = serde_json::from_slice(&request.body).expect("a call that says what to answer");
    call.args.answer.get().to_owned()
}

impl World {
    /// One with these settings besides.
    pub(super) fn start(upstream: &Upstream, settings: &str) -> Self {
        let setup = Setup::of(&[]);
        let tools = setup.folder().file("tools.json", TOOLS);
        let config = format!(
            "{settings}\n[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
             [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n\
             [[endpoints]]\nurl = \"{}\"\ntools = {tools:?}\n",
            component("probe"),
            upstream.origin(),
            upstream.url("/tools"),
        );
        let server = setup.config("tether.toml", &config).start();
        let over_http = REVISIONS.map(|revision| Way::over_http(&server, revision));
        let over_stdio = BOTH.map(|revision| Way::over_stdio(&server, revision));
        Self { ways: over_http.into_iter().chain(over_stdio).collect(), server }
    }
}

/// A way to call over MCP.
pub(super) struct Way {
    pub(super) name: String,
    client: Client,
    bridge: Option<Mutex<Bridge>>,
}

impl Way {
    fn over_http(server: &Server, revision: &'static str) -> Self {
        Self { name: format!("{revision} over HTTP"), client: Client::new(server, revision), bridge: None }
    }

    fn over_stdio(server: &Server, revision: &'static str) -> Self {
        let client = Client::new(server, revision);
        let mut bridge = Bridge::to(server);
        if revision != STATELESS {
            bridge.begin(revision);
        }
        Self { name: format!("{revision} over stdio"), client, bridge: Some(Mutex::new(bridge)) }
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.client.revision == STATELESS
    }

    pub(super) fn is_over_http(&self) -> bool {
        self.bridge.is_none()
    }

    /// Calls a tool; with these arguments and this key, where there are any.
    pub(super) fn call(&self, tool: &str, arguments: Option<&str>, key: Option<&str>) -> Told {
        let arguments = arguments.map(|arguments| format!(r#","arguments":{arguments}"#)).unwrap_or_default();
        let key = key.map(|key| format!(r#""tether/idempotencyKey":"{key}""#)).unwrap_or_default();
        let members = format!(r#""name":"{tool}"{arguments}"#);
        let body = self.client.request(self.client.fresh_id(), "tools/call", &members, &key);
        match &self.bridge {
            None => Told::of(self.client.post("tools/call", Some(tool), &[], &body)),
            Some(bridge) => bridge.lock().expect("nobody panics with it").ask(&body),
        }
    }
}

/// `tether mcp`, spoken to line by line.
struct Bridge {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Bridge {
    fn to(server: &Server) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tether"));
        command.args(["mcp", "--url", &format!("http://{}", server.api.address)]);
        command.args(["--token", &server.api.token]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.expect("tether can be started");
        let input = child.stdin.take().expect("its standard input is ours");
        let output = BufReader::new(child.stdout.take().expect("its standard output is ours"));
        Self { child, input, output }
    }

    fn begin(&mut self, revision: &str) {
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"a test","version":"1"}}}}}}"#
        );
        assert_eq!(self.ask(&hello).result()["protocolVersion"], revision);
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn say(&mut self, message: &str) {
        // A line is a message, whatever blanks it has.
        writeln!(self.input, "{}", message.replace('\n', " ")).expect("it listens");
    }

    /// Says it, and hears the answer.
    fn ask(&mut self, request: &str) -> Told {
        self.say(request);
        loop {
            let mut text = String::new();
            self.output.read_line(&mut text).expect("it can be heard");
            let message: serde_json::Value = serde_json::from_str(&text).expect("a message");
            // Others are news. An answer to what is no JSON has no id.
            if message.get("method").is_none() {
                return Told { status: 200, message, text: text.trim_end().to_owned() };
            }
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
