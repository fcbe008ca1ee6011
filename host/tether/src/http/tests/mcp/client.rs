//! A client that speaks either generation, and sends what it is told to the letter.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tether_core::identity::Role;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::server::Server;

pub(super) const STATELESS: &str = "2026-07-28";

/// One that knows its token, and its session where the revision has one.
pub(super) struct Client {
    pub(super) address: SocketAddr,
    pub(super) token: String,
    pub(super) revision: &'static str,
    pub(super) session: Option<String>,
    /// What it says that it can.
    pub(super) can: Value,
    /// What it was told as its session began.
    pub(super) begun: Value,
    next: AtomicU64,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) status: u16,
    pub(super) head: String,
    /// The body.
    pub(super) text: String,
    /// The messages in it.
    pub(super) messages: Vec<Value>,
}

impl Got {
    fn read(answer: &str) -> Self {
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let messages = match text.trim_start().starts_with('{') || text.trim_start().starts_with('[') {
            true => vec![serde_json::from_str(text).unwrap()],
            false => events(text),
        };
        Self { status, head: head.to_ascii_lowercase(), text: text.to_owned(), messages }
    }

    /// The answer itself: the last message.
    #[track_caller]
    pub(super) fn last(&self) -> &Value {
        self.messages.last().unwrap_or_else(|| panic!("no message: {self:?}"))
    }

    #[track_caller]
    pub(super) fn result(&self) -> &Value {
        let last = self.last();
        assert!(last["error"].is_null(), "{last}");
        &last["result"]
    }

    /// The text of the first block.
    #[track_caller]
    pub(super) fn said(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap()
    }

    #[track_caller]
    pub(super) fn is_error(&self, status: u16, code: i64, part: &str) {
        let error = &self.last()["error"];
        assert_eq!((self.status, error["code"].as_i64()), (status, Some(code)), "{}", self.text);
        assert!(error["message"].as_str().unwrap().contains(part), "{}", self.text);
    }

    #[track_caller]
    pub(super) fn has_failed(&self, code: &str) {
        assert_eq!(self.result()["isError"], true, "{}", self.text);
        assert_eq!(self.result()["_meta"]["tether/problem"]["code"], code, "{}", self.text);
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// The messages of a stream.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

impl Client {
    /// A client of an agent of `acme`, in a session unless the revision has none.
    pub(super) async fn new(server: &Server, revision: &'static str) -> Self {
        let token = server.token("acme", "bot", &[Role::Agent]).await;
        Self::with(server, token, revision).await
    }

    pub(super) async fn with(server: &Server, token: String, revision: &'static str) -> Self {
        Self::able(server, token, revision, json!({})).await
    }

    /// One that can so much.
    pub(super) async fn able(server: &Server, token: String, revision: &'static str, can: Value) -> Self {
        let address = server.address;
        let next = AtomicU64::new(1);
        let mut client = Self { address, token, revision, session: None, can, begun: Value::Null, next };
        if revision != STATELESS {
            client.begin().await;
        }
        client
    }

    async fn begin(&mut self) {
        let can = &self.can;
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": can,
            "clientInfo": {"name": "a test", "version": "1"},
        });
        let begun = self.ask("initialize", &params.to_string()).await;
        assert_eq!(begun.result()["protocolVersion"], self.revision, "{begun:?}");
        self.session = begun.header("mcp-session-id").map(str::to_owned);
        self.begun = begun.result().clone();
        let done = self.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &[]).await;
        assert_eq!((done.status, done.text.as_str()), (202, ""));
    }

    /// Its own headers, those of a request for `method` and of `name` included.
    fn headers(&self, method: &str, name: Option<&str>) -> Vec<String> {
        let mut headers = vec![
            format!("Authorization: Bearer {}", self.token),
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            format!("MCP-Protocol-Version: {}", self.revision),
        ];
        if self.revision == STATELESS {
            headers.extend([format!("Mcp-Method: {method}")]);
            headers.extend(name.map(|name| format!("Mcp-Name: {name}")));
        }
        headers.extend(self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}")));
        headers
    }

    /// The members of `_meta` that every request has.
    fn meta(&self) -> String {
        if self.revision != STATELESS {
            return String::new();
        }
        let (revision, can) = (self.revision, &self.can);
        format!(
            r#""io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientCapabilities":{can}"#
        )
    }

    pub(super) fn fresh_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The text of a request, with `params`, an object's text, and what every request has.
    pub(super) fn request(&self, id: u64, method: &str, params: &str) -> String {
        let inner = params.trim().strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        let meta = self.meta();
        let params = match (meta.is_empty(), inner.contains("\"_meta\":{")) {
            (true, _) => params.to_owned(),
            (false, true) => {
                let comma = if inner.contains("\"_meta\":{}") { "" } else { "," };
                format!("{{{}}}", inner.replacen("\"_meta\":{", &format!("\"_meta\":{{{meta}{comma}"), 1))
            }
            (false, false) if inner.trim().is_empty() => format!("{{\"_meta\":{{{meta}}}}}"),
            (false, false) => format!("{{{inner},\"_meta\":{{{meta}}}}}"),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    }

    /// A request and its answer.
    pub(super) async fn ask(&self, method: &str, params: &str) -> Got {
        self.ask_as(self.fresh_id(), method, params, &[]).await
    }

    pub(super) async fn ask_as(&self, id: u64, method: &str, params: &str, more: &[&str]) -> Got {
        let body = self.request(id, method, params);
        let name = serde_json::from_str::<Value>(params).unwrap();
        let name = name["name"].as_str().or(name["taskId"].as_str());
        self.send(&self.headers(method, name), more, &body).await
    }

    /// A call with arguments to the letter.
    pub(super) async fn call(&self, name: &str, arguments: &str) -> Got {
        self.ask("tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#)).await
    }

    /// The same with a key.
    pub(super) async fn call_with(&self, name: &str, arguments: &str, key: &str) -> Got {
        let meta = format!(r#"{{"tether/idempotencyKey":"{key}"}}"#);
        self.ask("tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments},"_meta":{meta}}}"#))
            .await
    }

    /// A body to the letter.
    pub(super) async fn post(&self, body: &str, more: &[&str]) -> Got {
        self.send(&self.headers("x", None), more, body).await
    }

    async fn send(&self, headers: &[String], more: &[&str], body: &str) -> Got {
        let mut stream = self.sent("POST", headers, more, body).await;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        Got::read(&String::from_utf8(answer).unwrap())
    }

    /// A connection on which a request was sent. An answer of HTTP/1.0 ends with it.
    async fn sent(&self, method: &str, headers: &[String], more: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{method} /mcp HTTP/1.0\r\nContent-Length: {}\r\n", body.len());
        let named = more.iter().any(|header| header.to_ascii_lowercase().starts_with("host:"));
        let host = (!named).then(|| format!("Host: {}", self.address));
        // What comes in `more` takes the place of what the client has of the name.
        let replaced = |line: &String| {
            let name = |line: &str| line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            more.iter().any(|other| name(other) == name(line))
        };
        let own = headers.iter().filter(|line| !replaced(line)).chain(&host).map(String::as_str);
        for line in own.chain(more.iter().copied().filter(|line| !line.ends_with(": -"))) {
            head.push_str(line);
            head.push_str("\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        stream
    }

    /// A call whose answer nobody has read yet.
    pub(super) async fn started(&self, id: u64, name: &str, arguments: &str) -> TcpStream {
        self.started_saying(id, name, arguments, &[]).await
    }

    /// The same with further headers.
    pub(super) async fn started_saying(
        &self,
        id: u64,
        name: &str,
        arguments: &str,
        more: &[&str],
    ) -> TcpStream {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        let body = self.request(id, "tools/call", &params);
        self.sent("POST", &self.headers("tools/call", Some(name)), more, &body).await
    }

    /// A stream that listens.
    pub(super) async fn listening(&self) -> TcpStream {
        self.sent("GET", &self.headers("x", None), &[], "").await
    }

    /// The same without a session.
    pub(super) async fn subscribed(&self) -> TcpStream {
        let method = "subscriptions/listen";
        let body = self.request(self.fresh_id(), method, r#"{"notifications":{"toolsListChanged":true}}"#);
        self.sent("POST", &self.headers(method, None), &[], &body).await
    }

    /// A request without a body.
    pub(super) async fn bare(&self, method: &str, more: &[&str]) -> Got {
        let mut stream = self.sent(method, &self.headers("x", None), more, "").await;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        Got::read(&String::from_utf8(answer).unwrap())
    }
}

/// The rest of an answer.
pub(super) async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

/// What comes until this was said.
pub(super) async fn until(stream: &mut TcpStream, part: &str) -> String {
    let mut answer = String::new();
    while !answer.contains(part) {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.unwrap();
        assert!(length > 0, "it ended without {part:?}: {answer}");
        answer.push_str(str::from_utf8(&piece[..length]).unwrap());
    }
    answer
}

/// Waits until a count has come so far.
pub(super) async fn comes_to(count: impl Fn() -> usize, wanted: usize) {
    let waiting = async {
        while count() < wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("it comes so far");
}
