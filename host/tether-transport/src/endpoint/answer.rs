//! What an endpoint's answer comes to: pure.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use tether_core::failure::{Cause, Failure, is_transient_status};
use tether_core::json::{InvalidJson, JsonText};
use tether_core::plain::plain;
use tether_core::schema::Schema;

use crate::outbound::{Response, SendError};

/// The longest message that is passed on, in characters.
const LONGEST_MESSAGE: usize = 1_000;

/// The longest code of an endpoint's own, in bytes; anything longer is none.
const LONGEST_CODE: usize = 64;

/// The output, or why there is none. `retry_after` is what the answer asks for.
pub(super) fn output(
    response: &Response,
    schema: Option<&Schema>,
    retry_after: Option<Duration>,
) -> Result<JsonText, Failure> {
    if !response.status().is_success() {
        return Err(failure(response, retry_after));
    }
    let invalid = |why: String| Failure::new(Cause::ResultInvalid, why);
    let status = response.status().as_u16();
    if response.body().is_empty() {
        return Err(invalid(format!(
            "the endpoint answered {status} without a body; it must answer with JSON"
        )));
    }
    let text = str::from_utf8(response.body())
        .map_err(|_| invalid(format!("the endpoint answered {status}, and its body is not UTF-8")))?;
    let json = JsonText::parse(text).map_err(|error| match error {
        InvalidJson::DuplicateName(name) if name.contains("***") => invalid(format!(
            "the endpoint answered {status}, and secrets are in the names of members: masked, two are the same"
        )),
        error => invalid(format!("the endpoint answered {status}, and of its body: {error}")),
    })?;
    if let Some(Err(violations)) = schema.map(|schema| schema.check(&json)) {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        return Err(invalid(format!(
            "the endpoint's output does not fit the tool's output schema: {}",
            plain(first.trim(), LONGEST_MESSAGE)
        )));
    }
    Ok(json)
}

/// Why no answer came.
pub(super) fn not_answered(error: SendError) -> Failure {
    let cause = match &error {
        SendError::Denied(_) => Cause::Denied,
        SendError::Refused(_) => Cause::Limit,
        SendError::StorageFull(_) => Cause::StorageFull,
        SendError::NotSent(_) | SendError::OutcomeUnknown(_) => Cause::Unreachable,
        SendError::TooLarge(_) => Cause::ResultTooLarge,
    };
    Failure::new(cause, error.to_string())
}

fn failure(response: &Response, retry_after: Option<Duration>) -> Failure {
    let status = response.status();
    let cause = if is_transient_status(status.as_u16()) { Cause::Transient } else { Cause::Failed };
    let (code, says) = words(response.headers(), response.body());
    let message = match says {
        Some(says) => {
            format!("the endpoint answered {}: {}", status.as_u16(), plain(says.trim(), LONGEST_MESSAGE))
        }
        None => format!("the endpoint answered {}", named(status)),
    };
    Failure { cause, handler_code: code, message, retry_after }
}

/// The status and what it is called.
fn named(status: StatusCode) -> String {
    match (status.is_redirection(), status.canonical_reason()) {
        (true, _) => format!("{}; redirects are not followed", status.as_u16()),
        (false, Some(reason)) => format!("{} {reason}", status.as_u16()),
        (false, None) => status.as_u16().to_string(),
    }
}

/// The endpoint's own code, and what it says to people: out of a JSON object, or plain
/// text. A page of HTML says nothing that could be read.
fn words(headers: &HeaderMap, body: &[u8]) -> (Option<String>, Option<String>) {
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_plain = kind.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case("text/plain"));
        let text = String::from_utf8_lossy(body);
        return (None, (is_plain && !text.trim().is_empty()).then(|| text.into_owned()));
    };
    let string = |name: &&str| json[*name].as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
    let is_code =
        |code: &String| code.len() <= LONGEST_CODE && code.bytes().all(|byte| byte.is_ascii_graphic());
    let code = ["code", "errorCode"].iter().find_map(string).filter(is_code);
    (code, ["message", "errorMessage", "error"].iter().find_map(string))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn answer(status: u16, kind: &str, body: &str) -> Response {
        let response = http::Response::builder().status(status).header(CONTENT_TYPE, kind);
        response.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
    }

    #[track_caller]
    fn check_failure(status: u16, kind: &str, body: &str, cause: Cause, code: Option<&str>, message: &str) {
        let failure = output(&answer(status, kind, body), None, None).unwrap_err();
        assert_eq!(
            (failure.cause, failure.handler_code.as_deref(), failure.message.as_str()),
            (cause, code, message)
        );
    }

    #[test]
    fn the_body_of_a_success_is_the_output_to_the_letter() {
        let text = "{ \"n\": 9007199254740993 }\n";
        for status in [200, 201, 202] {
            assert_eq!(output(&answer(status, "application/json", text), None, None).unwrap().as_str(), text);
        }
        assert_eq!(output(&answer(200, "text/html", "null"), None, None).unwrap().as_str(), "null");
    }

    #[test]
    fn a_success_without_json_is_no_result() {
        for (status, body) in [(204, ""), (200, ""), (200, "ok"), (200, "{} {}"), (200, r#"{"a":1,"a":2}"#)] {
            let failure = output(&answer(status, "application/json", body), None, None).unwrap_err();
            assert_eq!(failure.cause, Cause::ResultInvalid, "{body:?}");
        }
    }

    #[test]
    fn an_output_against_its_schema_is_no_result() {
        let schema = Schema::compile(&JsonText::parse(r#"{"type":"object"}"#).unwrap()).unwrap();
        assert!(output(&answer(200, "", "{}"), Some(&schema), None).is_ok());
        assert_eq!(
            output(&answer(200, "", "1"), Some(&schema), None).unwrap_err().cause,
            Cause::ResultInvalid
        );
    }

    #[test]
    fn five_statuses_may_go_better_and_no_other_does() {
        for status in 300..600 {
            let failure = output(&answer(status, "", "{}"), None, Some(Duration::from_secs(1))).unwrap_err();
            let transient = matches!(status, 408 | 429 | 502 | 503 | 504);
            assert_eq!(failure.cause, if transient { Cause::Transient } else { Cause::Failed }, "{status}");
            assert_eq!(failure.retry_after, Some(Duration::from_secs(1)));
        }
    }

    #[test]
    fn an_endpoints_own_words_are_passed_on() {
        let json = "application/json";
        let says = "the endpoint answered 409: already void";
        check_failure(
            409,
            json,
            r#"{"code":"VOID","message":"already void"}"#,
            Cause::Failed,
            Some("VOID"),
            says,
        );
        check_failure(
            409,
            json,
            r#"{"errorCode":"VOID","error":"already void"}"#,
            Cause::Failed,
            Some("VOID"),
            says,
        );
        check_failure(409, "Text/Plain; charset=utf-8", "already void\n", Cause::Failed, None, says);
        check_failure(
            404,
            "text/html",
            "<h1>no</h1>",
            Cause::Failed,
            None,
            "the endpoint answered 404 Not Found",
        );
        check_failure(
            503,
            json,
            r#"{"code":7,"message":" "}"#,
            Cause::Transient,
            None,
            "the endpoint answered 503 Service Unavailable",
        );
        check_failure(
            302,
            json,
            "",
            Cause::Failed,
            None,
            "the endpoint answered 302; redirects are not followed",
        );
        check_failure(
            400,
            json,
            r#"{"code":"a b","message":"x\u001b"}"#,
            Cause::Failed,
            None,
            r"the endpoint answered 400: x\u{1b}",
        );
        check_failure(
            400,
            json,
            &format!(r#"{{"code":"{}"}}"#, "A".repeat(65)),
            Cause::Failed,
            None,
            "the endpoint answered 400 Bad Request",
        );
    }

    /// Whatever an endpoint answers with, there is an output that is its text, or a
    /// message that people can read.
    #[test]
    fn whatever_is_answered_comes_to_something() {
        const PARTS: [&str; 20] = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"code\"",
            "\"message\"",
            "\"",
            "1e999",
            "-0",
            "null",
            "\u{1b}[2J",
            "\\ud800",
            "\"\\u0000\"",
            " ",
            "\u{202e}",
            "<p>",
            "\u{fffd}",
            "true",
        ];
        let mut random = crate::random::Random(5);
        let mut outputs = 0;
        for _ in 0..200_000 {
            let body: String = (0..random.below(8)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            let body = if random.below(2) == 0 { format!("{{\"message\":{body}}}") } else { body };
            let status = [200, 204, 302, 400, 429, 500, 503][random.below(7)];
            let kind = ["application/json", "text/plain"][random.below(2)];
            match output(&answer(status, kind, &body), None, None) {
                Ok(json) => {
                    outputs += 1;
                    assert!(status < 300 && json.as_str() == body, "{body:?}");
                }
                Err(failure) => {
                    let message = failure.message;
                    assert!(
                        !message.chars().any(char::is_control) && message.chars().count() < 1_100,
                        "{body:?}"
                    );
                    assert!(!message.contains('\u{202e}'), "{message:?}");
                }
            }
        }
        assert!(outputs > 1_000, "{outputs} of 200,000 answers were outputs");
    }
}
