//! Answers that are errors of the protocol, of ours and of rmcp's.

use axum::body::Bytes;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};
use tether_core::plain::plain;
use tether_core::problem::Code;

use super::message::Unreadable;
use super::problem;

/// When a session that there is no room for may be asked for again, in seconds.
const PAUSE: u64 = 5;

/// Characters of an error that is not ours.
const LONGEST: usize = 1_000;

/// An error of rmcp's as JSON-RPC, as all others are, and of a length that can be read: some
/// quote what was sent.
pub(super) async fn worded(answer: Response, id: Option<&str>) -> Response {
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let (parts, body) = answer.into_parts();
    // It is in memory already.
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    if is_json {
        return Response::from_parts(parts, readable(body).into());
    }
    let text = plain(&String::from_utf8_lossy(&body), LONGEST);
    let (status, wrong) = match parts.status {
        // That the type is right was seen before: it is JSON, and what it says does not fit.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (StatusCode::BAD_REQUEST, problem::invalid("the parameters do not fit the method"))
        }
        status if status.is_server_error() => (status, ErrorData::internal_error(text, None)),
        status => (status, ErrorData::invalid_request(text, None)),
    };
    let mut answer = error(status, id, &wrong);
    if let Some(allowed) = parts.headers.get(ALLOW) {
        answer.headers_mut().insert(ALLOW, allowed.clone());
    }
    answer
}

/// An error of rmcp's whose message is neither long nor the bare name of a method.
fn readable(body: Bytes) -> Bytes {
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return body };
    let is_of_method = message["error"]["code"] == ErrorCode::METHOD_NOT_FOUND.0;
    let Some(Value::String(text)) = message.pointer_mut("/error/message") else { return body };
    // What we said ourselves is no name.
    if is_of_method && !text.contains(' ') {
        *text = problem::unknown_method(text).message.into_owned();
    } else if body.len() > LONGEST {
        *text = plain(text, LONGEST);
    } else {
        return body;
    }
    message.to_string().into()
}

pub(super) fn refused(unreadable: Unreadable) -> Response {
    let (id, code, detail) = match unreadable {
        Unreadable::Syntax(detail) => (None, ErrorCode::PARSE_ERROR, detail),
        Unreadable::Shape { id, detail } => (id, ErrorCode::INVALID_REQUEST, detail),
    };
    error(StatusCode::BAD_REQUEST, id.as_deref(), &ErrorData::new(code, detail, None))
}

/// An answer that is an error of the protocol.
pub(super) fn error(status: StatusCode, id: Option<&str>, wrong: &ErrorData) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body(id, wrong)).into_response()
}

/// Its body: with the JSON text of the request's id, where it is known.
fn body(id: Option<&str>, error: &ErrorData) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let error = serde_json::to_value(error).unwrap_or(Value::Null);
    format!(r#"{{"jsonrpc":"2.0",{id}"error":{error}}}"#)
}

/// There is no such session of the caller's.
pub(super) fn no_session() -> ErrorData {
    const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32_001);
    ErrorData::new(SESSION_NOT_FOUND, "there is no such session; begin anew with `initialize`", None)
}

/// A session that nothing makes room for: those that are open are at work.
pub(super) fn full(id: Option<&str>) -> Response {
    let detail = "every session that could make room for yours is at work; nothing was attempted";
    let data = json!({"code": Code::Overloaded.as_str(), "retryAfterMs": PAUSE * 1_000});
    let mut answer =
        error(StatusCode::SERVICE_UNAVAILABLE, id, &ErrorData::internal_error(detail, Some(data)));
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(PAUSE));
    answer
}

/// What a host answers that is not ready.
pub(super) fn starting() -> ErrorData {
    ErrorData::internal_error("the gateway is starting; nothing was attempted", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_finds_no_room_is_told_when_to_come_again() {
        let answer = full(Some("1"));
        assert_eq!((answer.status().as_u16(), &answer.headers()[RETRY_AFTER]), (503, &HeaderValue::from(5)));
    }

    #[test]
    fn a_long_error_is_shortened_and_a_short_one_is_not() {
        let body = |text: &str| format!(r#"{{"error":{{"code":-32020,"message":"{text}"}},"id":7}}"#);
        assert_eq!(readable(body("short").into()), body("short"));
        let long = readable(body(&"x".repeat(100_000)).into());
        let message: Value = serde_json::from_slice(&long).unwrap();
        assert_eq!((long.len() < 1_100, &message["id"]), (true, &7.into()));
        assert!(message["error"]["message"].as_str().unwrap().ends_with("x…"));
    }

    #[test]
    fn the_bare_name_of_a_method_becomes_a_sentence() {
        let said = |text: &str| {
            let body = format!(r#"{{"error":{{"code":-32601,"message":"{text}"}},"id":7}}"#);
            serde_json::from_slice::<Value>(&readable(body.into())).unwrap()["error"]["message"].clone()
        };
        assert_eq!(said("ping"), "there is no method \"ping\"");
        assert_eq!(said("there is no method 'x'"), "there is no method 'x'");
    }

    #[test]
    fn an_error_names_its_request_where_that_is_known() {
        let error = problem::invalid("x");
        assert!(body(Some("\"a\""), &error).starts_with(r#"{"jsonrpc":"2.0","id":"a","error":{"#));
        assert!(body(None, &error).starts_with(r#"{"jsonrpc":"2.0","error":{"#));
    }
}
