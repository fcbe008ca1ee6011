//! The messages of an answer, as they come.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tether_transport::client::Exchange;

use super::events::Events;
use super::failure::Failure;
use crate::mcp::id_in;

/// The longest answer that is no stream, in bytes.
const LONGEST: usize = 16 << 20;

/// See the module. Dropped before the end, whoever asked has gone away.
pub(super) enum Messages {
    /// Each is an event.
    Stream(Box<Exchange>, Events),
    /// There is one, or none.
    Whole(Option<String>),
}

impl Messages {
    /// Those of an answer that has begun.
    pub(super) async fn of(mut exchange: Exchange) -> Result<Self, Failure> {
        if exchange.is_stream() {
            return Ok(Self::Stream(Box::new(exchange), Events::default()));
        }
        let body = whole(&mut exchange).await?;
        if body.trim().is_empty() {
            return Ok(Self::Whole(None));
        }
        Ok(Self::Whole(Some(passable(body, &exchange)?)))
    }

    /// The next one; none at the end. What is no message comes from no gateway, and fails.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Failure> {
        let (exchange, events) = match self {
            Self::Stream(exchange, events) => (exchange, events),
            Self::Whole(message) => return Ok(message.take()),
        };
        loop {
            if let Some(message) = events.next() {
                return passable(message, exchange).map(Some);
            }
            let Some(piece) = exchange.next().await? else { return Ok(None) };
            events.take(&piece).map_err(|wrong| Failure::Problem(wrong.to_string()))?;
        }
    }
}

/// What an answer says, if it may be passed on.
fn passable(message: String, exchange: &Exchange) -> Result<String, Failure> {
    match is_message(&message) {
        true => Ok(message),
        false => Err(Failure::no_message(exchange.status())),
    }
}

/// Whether it is a message of JSON-RPC, or a list of them.
fn is_message(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Message {
        jsonrpc: String,
    }
    // Without a look at how it begins, a list of members would be an object.
    let is_one = |text: &str| {
        let message = serde_json::from_str::<Message>(text);
        text.trim_start().starts_with('{') && message.is_ok_and(|message| message.jsonrpc == "2.0")
    };
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(list) => !list.is_empty() && list.into_iter().all(|item| is_one(item.get())),
        Err(_) => is_one(text),
    }
}

/// The whole body.
pub(super) async fn whole(exchange: &mut Exchange) -> Result<String, Failure> {
    let mut body = Vec::new();
    while let Some(piece) = exchange.next().await? {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST {
            return Err(Failure::Problem(format!("the answer is over {LONGEST} bytes")));
        }
    }
    String::from_utf8(body).map_err(|_| Failure::Problem("the answer is not UTF-8".to_owned()))
}

/// The id of the request that a message answers; none where it answers nothing.
pub(super) fn answered(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        method: Option<IgnoredAny>,
    }
    let Message { method } = serde_json::from_str(message).ok()?;
    method.is_none().then(|| id_in(message))?
}

/// The revision that the answer to a handshake names.
pub(super) fn revision(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        result: Handshake,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Handshake {
        protocol_version: String,
    }
    serde_json::from_str::<Message>(message).ok().map(|message| message.result.protocol_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_an_object_that_says_so_or_a_list_of_them() {
        let message = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        let list = format!("[{message}, {message}]");
        for text in [message, " {\n\"jsonrpc\" : \"2.0\"}\n", &list] {
            assert!(is_message(text), "{text}");
        }
        let (mixed, cut) = (format!("[{message},5]"), &message[1..]);
        for text in ["<html>", "hello", "5", "null", "[]", r#"["2.0"]"#, r#"[["2.0"]]"#, &mixed, cut] {
            assert!(!is_message(text), "{text}");
        }
        for text in [r#"{"a":1}"#, r#"{"jsonrpc":"1.0"}"#, r#"{"jsonrpc":2.0}"#, r#"{"jsonrpc":"2.0"} x"#] {
            assert!(!is_message(text), "{text}");
        }
    }

    #[test]
    fn an_answer_has_an_id_and_no_method() {
        assert_eq!(answered(r#"{"jsonrpc":"2.0","id":7,"result":{"method":"x"}}"#).as_deref(), Some("7"));
        assert_eq!(answered(r#"{"id":"\u0041","error":{}}"#).as_deref(), Some("\"A\""));
        for message in [r#"{"id":7,"method":"elicitation/create"}"#, r#"{"method":"x"}"#, "5", ""] {
            assert_eq!(answered(message), None, "{message}");
        }
    }

    #[test]
    fn the_revision_of_a_session_is_that_of_its_handshake() {
        let message = r#"{"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
        assert_eq!(revision(message).as_deref(), Some("2025-06-18"));
        assert_eq!(revision(r#"{"id":0,"error":{"code":1,"message":""}}"#), None);
    }
}
