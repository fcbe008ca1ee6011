//! What a line of the client's says, as far as it decides how the line is sent. The line
//! itself goes on to the letter.

use std::collections::BTreeMap;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::mcp::{id_in, id_of};

/// A header of a request.
pub(super) type Header = (&'static str, String);

/// A line that is JSON.
pub(super) struct Line {
    /// To the letter.
    pub(super) text: String,
    /// From 1.
    pub(super) number: u64,
    /// When it was read.
    pub(super) at: Instant,
    /// What it says.
    pub(super) says: Says,
}

/// See the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Says {
    /// What sort of line it is.
    pub(super) kind: Kind,
    /// The ids of its requests, as JSON texts.
    pub(super) ids: Vec<String>,
    /// What it asks for or tells; of one message.
    method: String,
    /// The revision that it names: in those without sessions each request does.
    pub(super) revision: Option<String>,
    /// What it is about, for the boxes on the way.
    name: Option<String>,
    /// Whether it has a key of its own.
    has_key: bool,
    /// The ids of the requests that it calls off, of its own or of lines before it.
    pub(super) cancels: Vec<String>,
}

/// What sort of line it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is answered.
    Request,
    /// It is not answered.
    Notification,
    /// It answers what the gateway asked.
    Answer,
    /// Several messages.
    List,
    /// JSON that is no message: the gateway says what is wrong with it.
    #[default]
    Other,
}

impl Line {
    /// Reads the line with this number, which came at this time.
    ///
    /// # Errors
    ///
    /// Why it is no JSON.
    pub(super) fn read(text: String, number: u64, at: Instant) -> Result<Self, serde_json::Error> {
        let says = Says::read(serde_json::from_str(&text)?);
        Ok(Self { text, number, at, says })
    }

    /// Whether it is one message with this method.
    pub(super) fn is(&self, method: &str) -> bool {
        self.says.method == method
    }

    /// Whether it is a request with this method.
    pub(super) fn asks_for(&self, method: &str) -> bool {
        self.says.kind == Kind::Request && self.is(method)
    }

    /// Whether it is a notification with this method.
    pub(super) fn tells(&self, method: &str) -> bool {
        self.says.kind == Kind::Notification && self.is(method)
    }

    /// Whether it may be sent again where nobody knows whether it arrived: a proposal has its
    /// key, and the others change nothing.
    pub(super) fn is_repeatable(&self) -> bool {
        const REQUESTS: [&str; 7] = [
            "initialize",
            "ping",
            "server/discover",
            "subscriptions/listen",
            "tasks/get",
            "tools/call",
            "tools/list",
        ];
        match self.says.kind {
            Kind::Request => REQUESTS.contains(&self.says.method.as_str()),
            Kind::Notification | Kind::Answer => true,
            Kind::List | Kind::Other => false,
        }
    }

    /// The key of a proposal that has none of its own: `stem` and the number of the line, so
    /// that the line sent again is the same proposal.
    pub(super) fn key(&self, stem: &str) -> Option<Header> {
        let needs_one = self.is("tools/call") && !self.says.has_key;
        needs_one.then(|| ("Idempotency-Key", format!("{stem}:{}", self.number)))
    }

    /// What a revision without sessions repeats in headers.
    pub(super) fn repeated(&self) -> impl Iterator<Item = Header> {
        // A method is never encoded. One that cannot stand in a header has none, and is refused.
        let method = Some(&self.says.method).filter(|method| is_plain(method));
        let method = method.map(|method| ("Mcp-Method", method.clone()));
        method.into_iter().chain(self.says.name.as_deref().map(|name| ("Mcp-Name", encoded(name))))
    }
}

impl Says {
    fn read(line: &RawValue) -> Self {
        if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(line.get()) {
            let mut list = Self { kind: Kind::List, ..Self::default() };
            for message in items.into_iter().map(Self::of) {
                list.ids.extend(message.ids);
                list.cancels.extend(message.cancels);
            }
            return list;
        }
        Self::of(line)
    }

    fn of(message: &RawValue) -> Self {
        let id = id_in(message.get());
        let message = &members(message);
        let method = text(message, "method");
        let kind = match (&method, &id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) if !message.contains_key("id") => Kind::Notification,
            (None, _) if message.contains_key("result") || message.contains_key("error") => Kind::Answer,
            _ => Kind::Other,
        };
        let ids = id.into_iter().filter(|_| kind == Kind::Request).collect();
        let method = method.unwrap_or_default();
        let params = message.get("params").map(|params| members(params)).unwrap_or_default();
        let meta = params.get("_meta").map(|meta| members(meta)).unwrap_or_default();
        let named_by = match method.as_str() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => "",
        };
        let calls_off = kind == Kind::Notification && method == "notifications/cancelled";
        let cancelled = params.get("requestId").filter(|_| calls_off);
        let revision = text(&meta, "io.modelcontextprotocol/protocolVersion");
        Self {
            kind,
            ids,
            revision: revision.filter(|revision| is_plain(revision)),
            name: text(&params, named_by),
            has_key: meta.contains_key("tether/idempotencyKey"),
            cancels: cancelled.and_then(|id| id_of(id.get())).into_iter().collect(),
            method,
        }
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The members of an object; none of anything else.
fn members(value: &RawValue) -> Members<'_> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

fn text(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Whether a header may hold it as it is.
fn is_plain(value: &str) -> bool {
    let inner = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    inner && !value.is_empty() && value.trim() == value
}

/// A name as a header holds it.
fn encoded(name: &str) -> String {
    let is_marked = name.starts_with("=?base64?") && name.ends_with("?=");
    if (is_plain(name) && !is_marked) || name.is_empty() {
        return name.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Line {
        Line::read(text.to_owned(), 7, Instant::now()).unwrap()
    }

    #[test]
    fn a_line_is_a_request_a_notification_an_answer_a_list_or_nothing_of_these() {
        let check = |text: &str, kind: Kind, ids: &[&str]| {
            let says = read(text).says;
            assert_eq!(
                (says.kind, says.ids),
                (kind, ids.iter().map(|id| (*id).to_owned()).collect()),
                "{text}"
            );
        };
        check(r#"{"id":1,"method":"ping"}"#, Kind::Request, &["1"]);
        check(r#"{"id":"\u0041","method":"ping"}"#, Kind::Request, &["\"A\""]);
        check(r#"{"method":"notifications/initialized"}"#, Kind::Notification, &[]);
        check(r#"{"id":1,"result":{}}"#, Kind::Answer, &[]);
        check(r#"[{"id":1,"method":"a"},{"method":"b"},5,{"id":2,"method":"c"}]"#, Kind::List, &["1", "2"]);
        for text in ["5", "{}", r#"{"id":7,"id":8,"method":"ping"}"#] {
            check(text, Kind::Other, &[]);
        }
        // The gateway knows no others either.
        for id in ["null", "{}", "1.5", "1e400", "9223372036854775808", "-0"] {
            check(&format!(r#"{{"id":{id},"method":"ping"}}"#), Kind::Other, &[]);
        }
        for text in ["", "{", "{} {}", "\u{feff}{}"] {
            assert!(Line::read(text.to_owned(), 1, Instant::now()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_proposal_has_the_key_of_its_line_unless_it_has_its_own() {
        let key = |meta: &str| {
            let text = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"x","_meta":{meta}}}}}"#);
            read(&text).key("stdio:ab")
        };
        assert_eq!(key("{}"), Some(("Idempotency-Key", "stdio:ab:7".to_owned())));
        assert_eq!(key(r#"{"tether/idempotencyKey":"k"}"#), None);
        assert_eq!(read(r#"{"id":1,"method":"tools/list"}"#).key("s"), None);
    }

    #[test]
    fn what_it_is_about_stands_in_headers_as_well() {
        let check = |method: &str, params: &str, expected: &[Header]| {
            let line = read(&format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#));
            assert_eq!(line.repeated().collect::<Vec<_>>(), expected, "{method}");
        };
        let header = |name, value: &str| (name, value.to_owned());
        let called = header("Mcp-Method", "tools/call");
        let named = |name: &str| [called.clone(), header("Mcp-Name", name)];
        check("tools/call", r#"{"name":"get_ticket"}"#, &named("get_ticket"));
        check("tools/call", r#"{"name":"ä"}"#, &named("=?base64?w6Q=?="));
        check("tools/call", r#"{"name":" x"}"#, &named("=?base64?IHg=?="));
        check("tools/call", r#"{"name":"=?base64?eA==?="}"#, &named("=?base64?PT9iYXNlNjQ/ZUE9PT89?="));
        check("tools/call", r#"{"name":5}"#, std::slice::from_ref(&called));
        check(
            "tasks/get",
            r#"{"taskId":"t"}"#,
            &[header("Mcp-Method", "tasks/get"), header("Mcp-Name", "t")],
        );
        check("tools/list", r#"{"name":"x"}"#, &[header("Mcp-Method", "tools/list")]);
        check("a\\nb", "{}", &[]);
    }

    #[test]
    fn what_it_calls_off_and_the_revision_that_it_names_are_found() {
        let line = read(r#"{"method":"notifications/cancelled","params":{"requestId":"\u0041"}}"#);
        assert_eq!(line.says.cancels, ["\"A\""]);
        let list = read(&format!(r#"[{{"id":1,"method":"ping"}},{},5]"#, line.text));
        assert_eq!((list.says.ids, list.says.cancels), (vec!["1".to_owned()], line.says.cancels));
        let line = read(r#"{"id":1,"method":"notifications/cancelled","params":{"requestId":3}}"#);
        assert!(line.says.cancels.is_empty(), "a request calls nothing off");
        let named = |revision: &str| {
            let meta = format!(r#"{{"io.modelcontextprotocol/protocolVersion":{revision}}}"#);
            read(&format!(r#"{{"id":1,"method":"ping","params":{{"_meta":{meta}}}}}"#)).says.revision
        };
        assert_eq!(named("\"2026-07-28\"").as_deref(), Some("2026-07-28"));
        assert_eq!((named("5"), named("\"a\\nb\"")), (None, None));
    }
}
