//! A small client of the protocol, in a session where its revision has them, that sends
//! arguments to the letter.

use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::support::{Answer, Api, Request, Server};

pub(crate) const STATELESS: &str = "2026-07-28";

/// Connected, as an agent.
pub(crate) struct Client {
    pub(crate) api: Api,
    pub(crate) revision: &'static str,
    pub(crate) session: Option<String>,
    /// What it says that it can, as JSON.
    can: &'static str,
    next: AtomicU64,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    /// The last message: the answer.
    pub(crate) message: Value,
    /// Everything, to the letter.
    pub(crate) text: String,
}

impl Told {
    /// # Panics
    ///
    /// Where it broke off.
    pub(crate) fn of(answer: Answer) -> Self {
        // An answer may come in pieces; each is whole.
        let text = whole(&answer);
        let message = serde_json::from_str(last(&text)).unwrap_or_default();
        Self { status: answer.status, message, text }
    }

    /// The last message, to the letter.
    pub(crate) fn last(&self) -> &str {
        last(&self.text)
    }

    /// Every message, in order.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let data: Vec<_> = self.text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let texts = if data.is_empty() { vec![self.text.as_str()] } else { data };
        texts.into_iter().map(|text| serde_json::from_str(text).expect("a message")).collect()
    }

    #[track_caller]
    pub(crate) fn result(&self) -> &Value {
        assert!(self.message["result"].is_object(), "{} {}", self.status, self.text);
        &self.message["result"]
    }

    /// The text of the first block.
    #[track_caller]
    pub(crate) fn said(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// The id of the action that was proposed.
    #[track_caller]
    pub(crate) fn action(&self) -> String {
        let action = &self.result()["structuredContent"]["actionId"];
        action.as_str().unwrap_or_else(|| panic!("no action: {}", self.text)).to_owned()
    }

    /// The code of a call that failed.
    #[track_caller]
    pub(crate) fn code(&self) -> &str {
        assert_eq!(self.result()["isError"], true, "{}", self.text);
        self.result()["_meta"]["tether/problem"]["code"].as_str().unwrap_or_default()
    }

    /// The code of an error of the protocol.
    #[track_caller]
    pub(crate) fn error(&self) -> i64 {
        self.message["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.text))
    }
}

/// The last message of a stream, or the only one.
fn last(text: &str) -> &str {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(text)
}

/// The body, put together from its pieces.
fn whole(answer: &Answer) -> String {
    if answer.header("transfer-encoding").is_none() {
        return answer.text.clone();
    }
    let (mut whole, mut rest) = (String::new(), answer.text.as_str());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("a length");
        whole.push_str(&after[..length]);
        rest = after[length..].strip_prefix("\r\n").expect("a piece ends");
        if length == 0 {
            break;
        }
    }
    whole
}

impl Client {
    /// One with the server's own token.
    pub(crate) fn new(server: &Server, revision: &'static str) -> Self {
        Self::with(server, &server.api.token, revision)
    }

    /// One with this token.
    pub(crate) fn with(server: &Server, token: &str, revision: &'static str) -> Self {
        Self::able(server, token, revision, "{}")
    }

    /// One that says that it can do this.
    pub(crate) fn able(server: &Server, token: &str, revision: &'static str, can: &'static str) -> Self {
        let api = Api { token: token.to_owned(), ..server.api.clone() };
        let mut client = Self { api, revision, session: None, can, next: AtomicU64::new(1) };
        if revision != STATELESS {
            client.begin();
        }
        client
    }

    fn begin(&mut self) {
        let Self { revision, can, .. } = *self;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{can},"clientInfo":{{"name":"a test","version":"1"}}}}}}"#
        );
        let begun = self.post("initialize", None, &[], &body);
        self.session = begun.header("mcp-session-id").map(str::to_owned);
        assert_eq!(Told::of(begun).result()["protocolVersion"], revision);
        let done = self.post("x", None, &[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(done.status, 202);
    }

    /// A body to the letter.
    pub(crate) fn post(&self, method: &str, name: Option<&str>, more: &[(&str, &str)], body: &str) -> Answer {
        Answer::read(self.send(method, name, more, body)).expect("it answers")
    }

    /// The same, with its answer to come. Dropped, the client has gone away.
    pub(crate) fn send(
        &self,
        method: &str,
        name: Option<&str>,
        more: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        self.api.send_bytes(&self.bytes(method, name, more, body)).expect("it takes requests")
    }

    /// The same, as it goes over the wire.
    fn bytes(&self, method: &str, name: Option<&str>, more: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", self.revision),
        ];
        if self.revision == STATELESS {
            headers.push(("Mcp-Method", method));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        headers.extend(self.session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        headers.extend(more);
        let body = body.as_bytes();
        let token = Some(self.api.token.as_str());
        self.api.bytes(&Request { method: "POST", path: "/mcp", token, headers: &headers, body })
    }

    /// An id that was not used yet.
    pub(crate) fn fresh_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A request for `method`: `members` are those of its parameters, `meta` those of `_meta`.
    pub(crate) fn request(&self, id: u64, method: &str, members: &str, meta: &str) -> String {
        let own = match self.revision {
            STATELESS => format!(
                r#""io.modelcontextprotocol/protocolVersion":"{STATELESS}","io.modelcontextprotocol/clientCapabilities":{}"#,
                self.can
            ),
            _ => String::new(),
        };
        let meta =
            [own.as_str(), meta].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        let meta = format!(r#""_meta":{{{meta}}}"#);
        let params =
            [members, &meta].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
    }

    /// A request other than a call.
    pub(crate) fn ask(&self, method: &str, members: &str) -> Told {
        self.ask_of(method, None, members)
    }

    /// A request about something that has this name.
    pub(crate) fn ask_of(&self, method: &str, name: Option<&str>, members: &str) -> Told {
        let body = self.request(self.fresh_id(), method, members, "");
        Told::of(self.post(method, name, &[], &body))
    }

    /// A call.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Told {
        self.call_as(self.fresh_id(), tool, arguments, "")
    }

    /// A call with a key.
    pub(crate) fn call_with(&self, key: &str, tool: &str, arguments: &str) -> Told {
        self.call_as(self.fresh_id(), tool, arguments, &format!(r#""tether/idempotencyKey":"{key}""#))
    }

    /// A call under this id, with these members of `_meta`.
    pub(crate) fn call_as(&self, id: u64, tool: &str, arguments: &str, meta: &str) -> Told {
        Told::of(Answer::read(self.start(id, tool, arguments, meta)).expect("it answers"))
    }

    /// A call with further headers.
    pub(crate) fn call_saying(&self, tool: &str, arguments: &str, headers: &[(&str, &str)]) -> Told {
        let members = format!(r#""name":"{tool}","arguments":{arguments}"#);
        let body = self.request(self.fresh_id(), "tools/call", &members, "");
        Told::of(self.post("tools/call", Some(tool), headers, &body))
    }

    /// A call whose answer is to come. Dropped, the client has gone away.
    pub(crate) fn start(&self, id: u64, tool: &str, arguments: &str, meta: &str) -> TcpStream {
        self.api.send_bytes(&self.call_bytes(id, tool, arguments, meta)).expect("it takes requests")
    }

    /// A call as it goes over the wire.
    pub(crate) fn call_bytes(&self, id: u64, tool: &str, arguments: &str, meta: &str) -> Vec<u8> {
        let members = format!(r#""name":"{tool}","arguments":{arguments}"#);
        let body = self.request(id, "tools/call", &members, meta);
        self.bytes("tools/call", Some(tool), &[], &body)
    }
}
