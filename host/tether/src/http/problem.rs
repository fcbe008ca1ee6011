//! What is answered instead of a result: `application/problem+json`.

use std::time::Duration;

use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use tether_core::problem::{Code, Problem};

use crate::wire;

/// A request that gets no result, and why.
#[derive(Debug)]
pub(crate) struct Rejection {
    status: StatusCode,
    code: &'static str,
    problem: Box<Problem>,
    /// The rest of the body was not read: the connection cannot be used again.
    close: bool,
}

/// When it may be tried again where nobody said so: somebody has to make room first.
const FULL_DISK: Duration = Duration::from_secs(30);

impl From<Problem> for Rejection {
    fn from(mut problem: Problem) -> Self {
        if problem.code == Code::StorageFull {
            problem.retry_after.get_or_insert(FULL_DISK);
        }
        let status = status_of(&problem);
        Self { status, code: problem.code.as_str(), problem: Box::new(problem), close: false }
    }
}

/// The status of a problem; of an action's outcome see [`super::reply`].
pub(crate) fn status_of(problem: &Problem) -> StatusCode {
    match problem.code {
        _ if problem.malformed => StatusCode::BAD_REQUEST,
        Code::InvalidArguments | Code::Refused | Code::IdempotencyKeyReused => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::ToolNotFound | Code::ActionNotFound => StatusCode::NOT_FOUND,
        Code::ActionExecuting
        | Code::ActionChanged
        | Code::ActionDecided
        | Code::ActionDeclined
        | Code::ActionExpired
        | Code::ActionOutdated => StatusCode::CONFLICT,
        Code::KeyExpired => StatusCode::GONE,
        Code::ExecutionFailed
        | Code::ExecutionFailedRetryable
        | Code::ExecutionAttemptsExhausted
        | Code::HandlerFailed
        | Code::HandlerTrapped
        | Code::LimitExceeded
        | Code::DestinationDenied
        | Code::ResultTooLarge
        | Code::ResultInvalid => StatusCode::BAD_GATEWAY,
        Code::UpstreamUnavailable | Code::Overloaded | Code::StorageFull => StatusCode::SERVICE_UNAVAILABLE,
        Code::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl Rejection {
    pub(super) fn malformed(detail: impl Into<String>) -> Self {
        Problem::malformed(detail).into()
    }

    pub(super) fn unknown_path(path: &str) -> Self {
        let detail = format!("there is nothing at {path}; /openapi.json lists what there is");
        Self::of_request(StatusCode::NOT_FOUND, "NOT_FOUND", detail)
    }

    pub(super) fn wrong_method(method: &Method) -> Self {
        let detail = format!("{method} is not for this path; the `Allow` header names what is");
        Self::of_request(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", detail)
    }

    /// A body over `limit` bytes; `close` where its rest was left unread.
    pub(super) fn body_too_large(limit: usize, close: bool) -> Self {
        let detail = format!("the body is over {limit} bytes, the most that is taken; send less");
        Self { close, ..Self::of_request(StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE", detail) }
    }

    /// A body that did not come, or not whole.
    pub(super) fn body_missing(detail: impl Into<String>) -> Self {
        Self { close: true, ..Self::malformed(detail) }
    }

    /// There is no valid token. Whatever is wrong, this is all that is told.
    pub(super) fn unauthenticated() -> Self {
        let detail = "there is no valid token in this request: send `Authorization: Bearer TOKEN`";
        Problem::new(Code::Unauthenticated, detail).into()
    }

    /// Too many sign-ins failed from where this one comes.
    pub(super) fn slowed_down(retry_after: Duration) -> Self {
        let detail = "too many sign-ins failed from your address; this one was not looked at";
        let problem = Problem::new(Code::Overloaded, detail);
        Problem { retry_after: Some(retry_after), ..problem }.into()
    }

    pub(super) fn unknown_token() -> Self {
        let detail = "there is no such token; `GET /v1/tokens` lists those there are".to_owned();
        Self::of_request(StatusCode::NOT_FOUND, "NOT_FOUND", detail)
    }

    pub(super) fn starting() -> Self {
        let problem = Problem::new(Code::Overloaded, "the gateway is starting; nothing was attempted");
        Problem { retry_after: Some(Duration::from_secs(1)), ..problem }.into()
    }

    pub(super) fn internal() -> Self {
        let detail = "the host failed on this request; its log has the cause. \
                      If it was a decision, look at the action before you repeat it";
        Problem::new(Code::Internal, detail).into()
    }

    /// What is wrong with the request as HTTP, which has no code of core's.
    fn of_request(status: StatusCode, code: &'static str, detail: String) -> Self {
        Self { status, code, problem: Box::new(Problem::new(Code::InvalidArguments, detail)), close: false }
    }
}

impl Rejection {
    fn body(self) -> wire::Problem {
        let Self { status, code, problem, .. } = self;
        let errors = problem.errors.into_iter();
        wire::Problem {
            r#type: format!("urn:tether:error:{code}"),
            title: title(code),
            status: status.as_u16(),
            code,
            detail: problem.detail,
            request_id: problem.request_id.map(|id| id.to_string()),
            attempts: problem.attempts,
            retry_after_ms: problem.retry_after.map(millis),
            handler_code: problem.handler_code,
            errors: errors
                .map(|violation| wire::Violation { pointer: violation.pointer, message: violation.message })
                .collect(),
        }
    }
}

/// What a problem is on the wire, wherever it is told.
pub(crate) fn problem_body(problem: Problem) -> wire::Problem {
    Rejection::from(problem).body()
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let (status, close) = (self.status, self.close);
        let body = self.body();
        let mut response = (status, super::reply::text(&body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(millis) = body.retry_after_ms {
            headers.insert(RETRY_AFTER, HeaderValue::from(millis.div_ceil(1000)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tether\""));
        }
        if close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// `ACTION_NOT_FOUND` as words: the same for every problem of the kind.
fn title(code: &str) -> String {
    let mut title = code.to_ascii_lowercase().replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_that_fits_it() {
        for code in Code::ALL {
            let rejection = Rejection::from(Problem::new(*code, "x"));
            assert!(rejection.status.is_client_error() || rejection.status.is_server_error(), "{code}");
        }
        assert_eq!(Rejection::malformed("x").status, StatusCode::BAD_REQUEST);
        assert_eq!(title("ACTION_NOT_FOUND"), "Action not found");
    }

    #[test]
    fn a_full_disk_always_says_when_to_come_back() {
        let response = Rejection::from(Problem::new(Code::StorageFull, "x")).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], "30");
    }

    #[test]
    fn retry_after_is_never_too_soon() {
        let problem = Problem::new(Code::Overloaded, "x");
        let problem = Problem { retry_after: Some(Duration::from_millis(1001)), ..problem };
        let response = Rejection::from(problem).into_response();
        assert_eq!(response.headers()[RETRY_AFTER], "2");
    }
}
