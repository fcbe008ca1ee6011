//! Parameters that do not fit their method, where rmcp would take the message for another
//! one, or for none.

use axum::http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::{InitializeRequestParams, PaginatedRequestParams};
use tether_core::plain::plain;

use super::message::Message;
use super::problem;

/// Characters of a reason that may quote what was sent.
const LONGEST: usize = 300;

/// The revision that a handshake asks for; none where it does not say so.
pub(super) fn revision(message: &Message) -> Option<String> {
    let parameters: InitializeRequestParams = serde_json::from_str(message.parameters()).ok()?;
    Some(parameters.protocol_version.as_str().to_owned())
}

/// What is answered where they do not fit.
pub(super) fn wrong(message: &Message) -> Option<(StatusCode, ErrorData)> {
    if !message.has_fitting_meta {
        return Some((StatusCode::BAD_REQUEST, problem::invalid("`_meta` must be an object")));
    }
    own(message).map(|wrong| (StatusCode::OK, problem::invalid(wrong)))
}

/// What is wrong with the method's own.
fn own(message: &Message) -> Option<String> {
    if message.asks_for("tools/list")
        && serde_json::from_str::<PaginatedRequestParams>(message.parameters()).is_err()
    {
        return Some("`cursor` must be a text; leave it out to begin at the start".to_owned());
    }
    if message.asks_for("initialize")
        && let Err(error) = serde_json::from_str::<InitializeRequestParams>(message.parameters())
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
        let wrong = wrong(&Message::read(body).unwrap()).map(|(_, wrong)| wrong.message);
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
