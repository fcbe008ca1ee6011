//! What a body says, before rmcp reads it: rmcp would round numbers, reorder members and
//! take what does not fit for a method that nobody knows.

use std::collections::BTreeMap;
use std::ops::Range;

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::value::{RawValue, Value};
use tether_core::json::{InvalidJson, JsonText};

/// The name under which `_meta` holds a proposal's key.
pub(super) const KEY: &str = "tether/idempotencyKey";

/// What a body holds.
#[derive(Debug)]
pub(super) enum Posted {
    /// One message.
    One(Box<Message>),
    /// A list, each of which is one or none.
    Batch(Vec<Result<Message, Unreadable>>),
}

impl Posted {
    /// Reads a body.
    pub(super) fn read(text: String) -> Result<Self, Unreadable> {
        if !text.trim_start().starts_with('[') {
            return Message::read(text).map(|message| Self::One(Box::new(message)));
        }
        JsonText::parse(text.as_str())?;
        // What was accepted is a list.
        let items: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
        Ok(Self::Batch(items.into_iter().map(|item| Message::read(item.get().to_owned())).collect()))
    }
}

/// One message of JSON-RPC.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// None of an answer.
    pub(super) method: Option<String>,
    /// The `name` of the parameters.
    pub(super) name: Option<String>,
    /// The `arguments` of the parameters, to the letter.
    pub(super) arguments: Option<JsonText>,
    /// Whether `_meta` is an object, where there is one.
    pub(super) has_fitting_meta: bool,
    /// What `_meta` has under [`KEY`].
    pub(super) key: Option<Value>,
    text: String,
    /// Where the id stands in it.
    id_at: Option<Range<usize>>,
    /// Where the parameters do.
    parameters_at: Option<Range<usize>>,
    /// Where the arguments do.
    arguments_at: Option<Range<usize>>,
}

/// What sort of message it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is answered, under this id: its JSON text, one for each id.
    Request(String),
    /// It is not answered.
    Notification,
    /// It answers what we asked under this id, as JSON text, where it has one.
    Response(Option<String>),
}

/// Why a body is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is no JSON: -32700.
    Syntax(String),
    /// It is JSON, and no message of the protocol: -32600.
    Shape {
        /// The JSON text of its id, where one could be read.
        id: Option<String>,
        /// What is wrong with it.
        detail: String,
    },
}

impl From<InvalidJson> for Unreadable {
    fn from(error: InvalidJson) -> Self {
        match error {
            InvalidJson::Syntax(_) => Self::Syntax(error.to_string()),
            _ => Self::Shape { id: None, detail: error.to_string() },
        }
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

impl Message {
    /// Reads a body.
    pub(super) fn read(text: String) -> Result<Self, Unreadable> {
        // Finds what serde would let pass: names that occur twice, lone surrogates.
        JsonText::parse(text.as_str()).map_err(|error| match error.into() {
            Unreadable::Shape { detail, .. } => Unreadable::Shape { id: id_in(&text), detail },
            syntax @ Unreadable::Syntax(_) => syntax,
        })?;
        let shape = |id: Option<&str>, detail: &str| Unreadable::Shape {
            id: id.map(str::to_owned),
            detail: detail.to_owned(),
        };
        let members = members(&text).ok_or_else(|| shape(None, "a message is a JSON object"))?;
        let id = members.get("id").map(|id| id.get());
        let id = id.map(|id| {
            id_of(id).ok_or_else(|| shape(None, "`id` must be a text, or a whole number of 64 bits"))
        });
        let id = id.transpose()?;
        let id = id.as_deref();
        if members.get("jsonrpc").map(|version| version.get()) != Some("\"2.0\"") {
            return Err(shape(id, "`jsonrpc` must be \"2.0\""));
        }
        let method = match members.get("method") {
            None => None,
            Some(method) => {
                let method = serde_json::from_str::<String>(method.get());
                Some(method.map_err(|_| shape(id, "`method` must be a text"))?)
            }
        };
        let answers = members.contains_key("result") || members.contains_key("error");
        let kind = match (&method, id) {
            (Some(_), _) if answers => {
                return Err(shape(id, "there is both a `method` and a `result` or an `error`"));
            }
            (Some(_), Some(id)) => Kind::Request(id.to_owned()),
            (Some(_), None) => Kind::Notification,
            (None, _) if answers => Kind::Response(id.map(str::to_owned)),
            (None, _) => return Err(shape(id, "there is neither a `method` nor a `result` nor an `error`")),
        };
        let parameters = match members.get("params") {
            None => Members::new(),
            Some(parameters) => self::members(parameters.get())
                .ok_or_else(|| shape(id, "`params` must be an object, where there are any"))?,
        };
        let id_at = members.get("id").map(|id| place(&text, id.get()));
        let parameters_at = members.get("params").map(|parameters| place(&text, parameters.get()));
        let name = parameters.get("name").and_then(|name| serde_json::from_str(name.get()).ok());
        let arguments = parameters.get("arguments").map(|arguments| arguments.get());
        let arguments_at = arguments.map(|arguments| place(&text, arguments));
        let arguments = arguments.map(JsonText::parse).transpose()?;
        let meta = parameters.get("_meta").map(|meta| meta.get()).filter(|meta| *meta != "null");
        let has_fitting_meta = meta.is_none_or(|meta| meta.starts_with('{'));
        let key = meta.and_then(self::members);
        let key = key.and_then(|meta| serde_json::from_str(meta.get(KEY)?.get()).ok());
        Ok(Self {
            kind,
            method,
            name,
            arguments,
            has_fitting_meta,
            key,
            id_at,
            parameters_at,
            arguments_at,
            text,
        })
    }

    /// Whether it is a request with this method.
    pub(super) fn asks_for(&self, method: &str) -> bool {
        matches!(self.kind, Kind::Request(_)) && self.method.as_deref() == Some(method)
    }

    /// The id, where it is a request.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request(id) => Some(id),
            Kind::Notification | Kind::Response(_) => None,
        }
    }

    /// The id of the request that it calls off, where it is such a notification.
    pub(super) fn called_off(&self) -> Option<String> {
        if self.method.as_deref() != Some("notifications/cancelled") {
            return None;
        }
        members(self.parameters()).and_then(|parameters| id_of(parameters.get("requestId")?.get()))
    }

    /// The JSON text of the parameters, an object.
    pub(super) fn parameters(&self) -> &str {
        self.parameters_at.clone().map_or("{}", |at| &self.text[at])
    }

    /// What rmcp is given: the body, without its arguments unless they are asked for. Of
    /// those that are no object it is given none in any case: it would take the request for
    /// one that it does not know.
    pub(super) fn forwarded(&self, with_arguments: bool) -> Bytes {
        let Some(at) = &self.arguments_at else { return Bytes::copy_from_slice(self.text.as_bytes()) };
        if with_arguments && self.text[at.clone()].starts_with('{') {
            return Bytes::copy_from_slice(self.text.as_bytes());
        }
        Bytes::from([&self.text[..at.start], "{}", &self.text[at.end..]].concat())
    }

    /// What rmcp is given of an answer: the body, under the `id` that rmcp knows.
    pub(super) fn answering(&self, id: &str) -> Bytes {
        let Some(at) = &self.id_at else { return self.forwarded(false) };
        Bytes::from([&self.text[..at.start], id, &self.text[at.end..]].concat())
    }
}

/// The id in a message, or in what should be one, where it has one that can be read.
pub(crate) fn id_in(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    // Not where there are two.
    serde_json::from_str(text).ok().and_then(|message: Message| id_of(message.id.get()))
}

/// The members of an object; none where it is something else.
fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// The JSON text of an id, the same for the same id; none where it is neither a text nor a whole
/// number of 64 bits.
pub(crate) fn id_of(text: &str) -> Option<String> {
    if text.starts_with('"') {
        let id: String = serde_json::from_str(text).ok()?;
        return serde_json::to_string(&id).ok();
    }
    // `-0` is another number to rmcp.
    text.parse::<i64>().map(|id| id.to_string()).ok().filter(|id| id == text)
}

/// Where `part`, which is a part of `whole`, stands in it.
pub(super) fn place(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Message {
        Message::read(text.to_owned()).unwrap()
    }

    #[test]
    fn arguments_are_kept_to_the_letter_and_rmcp_gets_none() {
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",
            "arguments": {"n":9007199254740993, "m" : 1.0}, "_meta":{"a":1}}}"#;
        let message = read(body);
        assert!(message.asks_for("tools/call"));
        assert_eq!((message.id(), message.name.as_deref()), (Some("7"), Some("echo")));
        assert_eq!(message.arguments.as_ref().unwrap().as_str(), r#"{"n":9007199254740993, "m" : 1.0}"#);
        let forwarded = body.replace(r#"{"n":9007199254740993, "m" : 1.0}"#, "{}");
        assert_eq!(message.forwarded(false), forwarded);
        assert_eq!(message.forwarded(true), body);
    }

    #[test]
    fn f25_what_is_no_object_is_kept_and_never_forwarded() {
        for arguments in ["null", "[]", "5", "\"x\""] {
            let body = |arguments: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"arguments":{arguments}}}}}"#
                )
            };
            let message = read(&body(arguments));
            assert_eq!(message.arguments.as_ref().unwrap().as_str(), arguments);
            assert_eq!(message.forwarded(true), body("{}"));
        }
        let message = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
        assert!(message.arguments.is_none());
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_an_answer() {
        let check = |text: &str, kind: Kind| assert_eq!(read(text).kind, kind, "{text}");
        check(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#, Kind::Request("\"x\"".into()));
        check(r#"{"jsonrpc":"2.0","id":-1,"method":"ping","params":{}}"#, Kind::Request("-1".into()));
        check(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Kind::Notification);
        let answer = |id: &str| Kind::Response(Some(id.to_owned()));
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, answer("1"));
        check(r#"{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":""}}"#, answer("\"1\""));
        check(r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, Kind::Response(None));
    }

    #[test]
    fn an_id_is_the_same_however_it_is_written() {
        let id = |id: &str| read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).kind;
        assert_eq!(id(r#""\u0041\/""#), id(r#""A/""#));
        assert_ne!(id("1"), id("\"1\""));
    }

    #[test]
    fn what_is_no_message_says_why_and_names_the_id_where_there_is_one() {
        #[track_caller]
        fn check(text: &str, id: Option<&str>, part: &str) {
            match Message::read(text.to_owned()) {
                Err(Unreadable::Shape { id: read, detail }) => {
                    assert_eq!(read.as_deref(), id, "{text}");
                    assert!(detail.contains(part), "{detail}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        check("5", None, "JSON object");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None, "`id`");
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None, "`id`");
        check(r#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#, None, "`id`");
        check(r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#, None, "`id`");
        check(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Some("1"), "`jsonrpc`");
        check(r#"{"id":1,"method":"ping"}"#, Some("1"), "`jsonrpc`");
        check(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some("1"), "`method`");
        check(r#"{"jsonrpc":"2.0","id":1}"#, Some("1"), "neither");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, Some("1"), "both");
        check(r#"{"jsonrpc":"2.0","method":"ping","error":{}}"#, None, "both");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, Some("1"), "`params`");
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}"#,
            Some("1"),
            "\"method\" occurs twice",
        );
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","id":2}"#, None, "\"id\" occurs twice");
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"a":2}}}"#;
        check(twice, Some("1"), "\"a\" occurs twice");
        for text in ["", "{", "{}{}", "\u{feff}{}", r#"{"id":"\ud800"}"#] {
            assert!(matches!(Message::read(text.to_owned()), Err(Unreadable::Syntax(_))), "{text:?}");
        }
    }

    #[test]
    fn a_key_may_be_of_any_type_here() {
        let read = |meta: &str| {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{meta}}}}}"#);
            self::read(&body).key
        };
        assert_eq!(read(r#"{"tether/idempotencyKey":"k"}"#), Some("k".into()));
        assert_eq!(read(r#"{"tether/idempotencyKey":5}"#), Some(5.into()));
        assert_eq!(read("{}"), None);
        assert_eq!(read("5"), None);
    }
}
