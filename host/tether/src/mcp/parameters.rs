//! Parameters that do not fit their method, where rmcp would take the message for another
//! one, or for none.

use std::collections::BTreeMap;

use rmcp::model::InitializeRequestParams;
use serde_json::value::RawValue;
use tether_core::plain::plain;

use super::message::Message;

/// Characters of a reason that may quote what was sent.
const LONGEST: usize = 300;

/// The revision that a handshake asks for; none where it does not say so.
pub(super) fn revision(message: &Message) -> Option<String> {
    let parameters: InitializeRequestParams = serde_json::from_str(message.parameters()).ok()?;
    Some(parameters.protocol_version.as_str().to_owned())
}

/// What is wrong with them, if anything.
pub(super) fn wrong(message: &Message) -> Option<String> {
    let parameters = message.parameters();
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(parameters).unwrap_or_default();
    let is = |name: &str, first: char| {
        members.get(name).is_none_or(|value| value.get().starts_with(first) || value.get() == "null")
    };
    if !is("_meta", '{') {
        return Some("`_meta` must be an object".to_owned());
    }
    if message.asks_for("tools/list") && !is("cursor", '"') {
        return Some("`cursor` must be a text; leave it out to begin at the start".to_owned());
    }
    if message.asks_for("initialize")
        && let Err(error) = serde_json::from_str::<InitializeRequestParams>(parameters)
    {
        return Some(format!(
            "the parameters do not fit `initialize`: {}",
            plain(&error.to_string(), LONGEST)
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, parameters: &str, expected: Option<&str>) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{parameters}}}"#);
        let wrong = wrong(&Message::read(body).unwrap());
        match expected {
            Some(part) => assert!(wrong.as_ref().is_some_and(|wrong| wrong.contains(part)), "{wrong:?}"),
            None => assert_eq!(wrong, None),
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        let who = r#""capabilities":{},"clientInfo":{"name":"x","version":"1"}"#;
        check("initialize", &format!(r#"{{"protocolVersion":"2025-11-25",{who}}}"#), None);
        check("initialize", &format!(r#"{{"protocolVersion":5,{who}}}"#), Some("do not fit `initialize`"));
        check("initialize", "{}", Some("protocolVersion"));
        for cursor in ["5", "[]", "{}", "true"] {
            check("tools/list", &format!(r#"{{"cursor":{cursor}}}"#), Some("`cursor` must be a text"));
        }
        check("tools/list", r#"{"cursor":null}"#, None);
        check("tools/call", r#"{"cursor":5}"#, None);
        for meta in ["5", "[]", "\"x\""] {
            check("ping", &format!(r#"{{"_meta":{meta}}}"#), Some("`_meta`"));
        }
        check("ping", r#"{"_meta":{}}"#, None);
    }
}
