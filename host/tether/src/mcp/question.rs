//! The ids of what the client of a session is asked.
//!
//! rmcp counts them from 0 in every session. A client that goes on over several sessions, as
//! one does behind a bridge, would answer the form of one session under the id of another's:
//! so each id says which session it is of.

use std::borrow::Cow;
use std::ops::Range;

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tether_core::digest::Digest;

use super::message::place;

/// Digits of the mark.
const DIGITS: usize = 16;

/// What tells the ids of a session from those of any other.
#[derive(Debug, Clone)]
pub(super) struct Mark(String);

/// What of a message has ids of ours.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Those of a notification that calls off what was asked.
#[derive(Deserialize)]
struct CalledOff<'a> {
    #[serde(borrow, rename = "requestId")]
    id: Option<&'a RawValue>,
}

impl Mark {
    /// That of a session.
    pub(super) fn of(session: &str) -> Self {
        let mut digits = Digest::of(session).hex();
        digits.truncate(DIGITS);
        Self(digits)
    }

    /// rmcp's id, as JSON text, of what was asked under `id`; none where it was not, in this
    /// session.
    pub(super) fn asked<'a>(&self, id: &'a str) -> Option<&'a str> {
        let number = id.strip_prefix('"')?.strip_suffix('"')?.strip_suffix(&self.0)?.strip_suffix('-')?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
    }

    /// An event on its way out: the id of what it asks, or calls off, has the mark.
    pub(super) fn put_on(&self, piece: Bytes) -> Bytes {
        let line = piece.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
        let Some(line) = line.filter(|line| line.starts_with("data: ")) else { return piece };
        match id_in(line) {
            Some(at) => {
                let marked = format!("\"{}-{}\"", &line[at.clone()], self.0);
                [&piece[..at.start], marked.as_bytes(), &piece[at.end..]].concat().into()
            }
            None => piece,
        }
    }
}

/// Where an id of ours stands in the line of an event.
fn id_in(line: &str) -> Option<Range<usize>> {
    let message: Sent = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
    let id = match message.method?.as_ref() {
        "notifications/cancelled" => serde_json::from_str::<CalledOff>(message.params?.get()).ok()?.id?,
        _ => message.id?,
    };
    Some(place(line, id.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sent: &str, expected: &str) {
        let mark = Mark("00ff".to_owned());
        let piece = |message: &str| Bytes::from(format!("data: {message}\n\n"));
        assert_eq!(mark.put_on(piece(sent)), piece(expected));
    }

    #[test]
    fn what_is_asked_and_what_is_called_off_has_the_mark_of_its_session() {
        let asked = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"id":7}}}}"#)
        };
        check(&asked("7"), &asked("\"7-00ff\""));
        let called_off = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
        };
        check(&called_off("0"), &called_off("\"0-00ff\""));
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for message in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"id":7}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}"#,
            "no JSON",
        ] {
            check(message, message);
        }
        let beat = Bytes::from_static(b":\n\n");
        assert_eq!(Mark::of("s").put_on(beat.clone()), beat);
    }

    #[test]
    fn an_answer_counts_in_the_session_that_asked() {
        let (one, other) = (Mark::of("one"), Mark::of("other"));
        let id = format!("\"7-{}\"", one.0);
        assert_eq!((one.asked(&id), other.asked(&id)), (Some("7"), None));
        for id in ["7", "\"7\"", "\"7-\"", &format!("\"-7-{}\"", one.0), &format!("\"{}\"", one.0)] {
            assert_eq!(one.asked(id), None, "{id}");
        }
    }
}
