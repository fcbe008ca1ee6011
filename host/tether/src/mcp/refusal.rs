//! Answers that are errors of the protocol, of ours and of rmcp's.

use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;

use super::message::Unreadable;
use super::problem;
use crate::http::BODY_LIMIT;

/// An error of rmcp's as JSON-RPC, as all others are.
pub(super) async fn worded(answer: Response, id: Option<&str>) -> Response {
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if is_json {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    let text = axum::body::to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
    let code = match parts.status {
        status if status.is_server_error() => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    let wrong = ErrorData::new(code, String::from_utf8_lossy(&text).into_owned(), None);
    let mut answer = error(parts.status, id, &wrong);
    if let Some(allowed) = parts.headers.get(ALLOW) {
        answer.headers_mut().insert(ALLOW, allowed.clone());
    }
    answer
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
    (status, headers, problem::body(id, wrong)).into_response()
}

/// What a host answers that is not ready.
pub(super) fn starting() -> ErrorData {
    ErrorData::internal_error("the gateway is starting; nothing was attempted", None)
}
