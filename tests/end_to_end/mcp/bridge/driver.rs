//! A client that has `tether mcp` as its server.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::mcp::client::STATELESS;
use crate::support::{Log, PATIENCE, Server, command};

/// The process, and the client's end of it. It is killed with its test.
pub(super) struct Bridge {
    pub(super) revision: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came while something else was waited for.
    aside: VecDeque<String>,
    log: Log,
    next: u64,
}

/// What it came to.
pub(super) struct Ended {
    /// Its exit code; −1 where a signal killed it.
    pub(super) code: i32,
    /// What it still said.
    pub(super) lines: Vec<String>,
    pub(super) stderr: String,
}

/// What a call came to.
pub(super) struct Told {
    /// To the letter.
    pub(super) line: String,
    pub(super) message: Value,
}

impl Told {
    fn of(line: String) -> Self {
        let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        Self { line, message }
    }

    #[track_caller]
    pub(super) fn result(&self) -> &Value {
        assert!(self.message["result"].is_object(), "{}", self.line);
        &self.message["result"]
    }

    /// The text of the first block.
    #[track_caller]
    pub(super) fn said(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// The id of the action that was proposed.
    #[track_caller]
    pub(super) fn action(&self) -> String {
        let action = &self.result()["structuredContent"]["actionId"];
        action.as_str().unwrap_or_else(|| panic!("no action: {}", self.line)).to_owned()
    }

    /// The code and the message of an error of the protocol.
    #[track_caller]
    pub(super) fn error(&self) -> (i64, &str) {
        let error = &self.message["error"];
        let code = error["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.line));
        (code, error["message"].as_str().unwrap_or_default())
    }
}

impl Bridge {
    /// One that speaks with this server, once the handshake is over where there is one.
    pub(super) fn new(server: &Server, revision: &'static str) -> Self {
        let mut bridge = Self::at(&format!("http://{}", server.api.address), &server.api.token, revision);
        bridge.begin(&json!({}));
        bridge
    }

    /// One that speaks with what is at `url`, before any handshake.
    pub(super) fn at(url: &str, token: &str, revision: &'static str) -> Self {
        let mut command = command();
        command.args(["mcp", "--url", url]).env("TETHER_TOKEN", token);
        Self::of(command, revision)
    }

    pub(super) fn of(mut command: Command, revision: &'static str) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("tether can be started");
        let input = child.stdin.take();
        let log = Log::of(child.stderr.take().expect("its standard error is ours"));
        let output = BufReader::new(child.stdout.take().expect("its standard output is ours"));
        let (sender, lines) = channel();
        // It ends with the process, or with the one who listens.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { revision, child, input, lines, aside: VecDeque::new(), log, next: 1 }
    }

    /// Shakes hands, where the revision has it, as a client that can do this.
    pub(super) fn begin(&mut self, capabilities: &Value) {
        if self.revision == STATELESS {
            return;
        }
        let revision = self.revision;
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"a test","version":"1"}}}}}}"#
        ));
        assert_eq!(self.answer(0).result()["protocolVersion"], revision);
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.told("notifications/tools/list_changed");
    }

    /// Sends a line.
    pub(super) fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Sends a line to one that may have ended.
    pub(super) fn try_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it was not closed");
        let _ = input.write_all(format!("{line}\n").as_bytes());
    }

    /// Sends bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it was not closed");
        input.write_all(bytes).expect("it reads");
    }

    /// The next line that fits.
    #[track_caller]
    fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Told {
        let fits = |line: &String| serde_json::from_str(line).is_ok_and(|message: Value| fits(&message));
        if let Some(at) = self.aside.iter().position(&fits) {
            return Told::of(self.aside.remove(at).expect("it was there"));
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| {
                panic!("{what} never came, but {:?}; and on standard error:\n{}", self.aside, self.log.text())
            });
            if fits(&line) {
                return Told::of(line);
            }
            self.aside.push_back(line);
        }
    }

    /// The answer to the request with this id.
    #[track_caller]
    pub(super) fn answer(&mut self, id: impl Into<Value>) -> Told {
        let id = id.into();
        self.wait(&format!("an answer to {id}"), |message| {
            message.get("id") == Some(&id) && message.get("method").is_none()
        })
    }

    /// The answer to what has no id that can be read: it has none.
    #[track_caller]
    pub(super) fn nameless(&mut self) -> Told {
        self.wait("an answer without an id", |message| {
            message.get("id").is_none() && message.get("error").is_some()
        })
    }

    /// What the server says or asks of its own.
    #[track_caller]
    pub(super) fn told(&mut self, method: &str) -> Told {
        self.wait(method, |message| message["method"] == method)
    }

    /// Whether it answered this without being asked for it.
    pub(super) fn has_answered(&mut self, id: u64) -> bool {
        self.aside.extend(self.lines.try_iter());
        self.aside.iter().any(|line| line.contains(&format!(r#""id":{id},"#)))
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Sends a request; its id.
    pub(super) fn send(&mut self, method: &str, members: &str, meta: &str) -> u64 {
        let id = self.fresh_id();
        let own = match self.revision {
            STATELESS => format!(
                r#""io.modelcontextprotocol/protocolVersion":"{STATELESS}","io.modelcontextprotocol/clientCapabilities":{{}}"#
            ),
            _ => String::new(),
        };
        let joined = |parts: [&str; 2]| {
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
        };
        let meta = format!(r#""_meta":{{{}}}"#, joined([&own, meta]));
        let params = joined([members, &meta]);
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#));
        id
    }

    /// Sends a call; its id.
    pub(super) fn start(&mut self, tool: &str, arguments: &str) -> u64 {
        self.send("tools/call", &format!(r#""name":"{tool}","arguments":{arguments}"#), "")
    }

    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, members: &str) -> Told {
        let id = self.send(method, members, "");
        self.answer(id)
    }

    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &str) -> Told {
        let id = self.start(tool, arguments);
        self.answer(id)
    }

    /// What became of an action.
    #[track_caller]
    pub(super) fn action(&mut self, id: &str) -> Told {
        self.call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#))
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// Sends a signal, such as `TERM`.
    pub(super) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("a signal can be sent").success());
    }

    /// Reads no more of what it says.
    pub(super) fn stop_reading(&mut self) {
        self.lines = channel().1;
    }

    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_some()
    }

    /// Ends its input.
    pub(super) fn close(&mut self) {
        drop(self.input.take());
    }

    /// Ends its input, and waits until it has ended.
    pub(super) fn end(mut self) -> Ended {
        self.close();
        self.wait_for_its_end()
    }

    pub(super) fn wait_for_its_end(mut self) -> Ended {
        let code = self.child.wait().expect("it can be waited for").code().unwrap_or(-1);
        let lines = self.aside.drain(..).chain(self.lines.iter()).collect();
        Ended { code, lines, stderr: self.log.whole() }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
