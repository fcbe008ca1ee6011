//! Problems: a result that says so, where a model can do something about it; an error of the
//! protocol only where the protocol was not followed.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, JsonObject, MetaObject};
use serde_json::json;
use tether_core::plain::plain;
use tether_core::problem::{Code, Problem};

use super::words;
use crate::http::problem_body;

/// What whoever called is told.
pub(super) fn told(problem: Problem) -> Result<CallToolResult, ErrorData> {
    if problem.malformed {
        let data = json!({"code": problem.code.as_str(), "detail": problem.detail});
        return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, problem.detail, Some(data)));
    }
    if problem.code == Code::ToolNotFound {
        // The detail of HTTP names a route.
        let detail = "there is no tool of this name; `tools/list` has those there are";
        return Err(ErrorData::new(
            ErrorCode::INVALID_PARAMS,
            detail,
            Some(json!({"code": problem.code.as_str()})),
        ));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(words::problem(&problem))]);
    // Not as structured content: clients hold that against the schema of the tool, of a
    // failure as well.
    let body = serde_json::to_value(problem_body(problem)).unwrap_or_default();
    result.meta = Some(MetaObject(JsonObject::from_iter([("tether/problem".to_owned(), body)])));
    Ok(result)
}

pub(super) fn unknown_cursor() -> ErrorData {
    invalid("`cursor` is none that this list gave; leave it out to begin at the start")
}

/// The parameters do not fit the method.
pub(super) fn invalid(detail: impl Into<String>) -> ErrorData {
    let detail = detail.into();
    let data = json!({"code": Code::InvalidArguments.as_str(), "detail": detail});
    ErrorData::new(ErrorCode::INVALID_PARAMS, detail, Some(data))
}

/// Characters of a method's name that are told again.
const LONGEST_METHOD: usize = 100;

/// There is no such method.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    let detail = format!("there is no method \"{}\"", plain(method, LONGEST_METHOD));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, detail, None)
}

/// The host failed, other than in a call; its log has the cause.
pub(super) fn failed() -> ErrorData {
    ErrorData::internal_error("the host failed; its log has the cause", None)
}

/// The host failed in a call; its log has the cause.
pub(super) fn internal() -> Problem {
    Problem::new(Code::Internal, "the host failed on this call; its log has the cause")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;
    use tether_core::schema::Violation;

    use super::*;

    #[test]
    fn every_problem_is_told_as_one_that_a_model_can_react_to() {
        for code in Code::ALL {
            let told = told(Problem::new(*code, "what is wrong"));
            if *code == Code::ToolNotFound {
                assert_eq!(told.unwrap_err().code, ErrorCode::INVALID_PARAMS);
                continue;
            }
            let result = serde_json::to_value(told.unwrap()).unwrap();
            assert_eq!(result["isError"], true, "{code}");
            let text = result["content"][0]["text"].as_str().unwrap();
            let advice =
                text.strip_prefix(&format!("{code}: what is wrong\n")).unwrap_or_else(|| panic!("{text}"));
            let says = [
                "Calling again with the same arguments will not help.",
                "Trying again later",
                "See with tether_actions",
            ];
            assert!(
                says.iter().any(|says| advice.starts_with(says)),
                "whether it is worth repeating: {text}"
            );
            assert_eq!(result["_meta"]["tether/problem"]["code"], code.as_str());
            assert_eq!(result["structuredContent"], Value::Null);
        }
    }

    #[test]
    fn what_is_wrong_with_the_request_itself_is_an_error_of_the_protocol() {
        let error = told(Problem::malformed("no")).unwrap_err();
        assert_eq!((error.code, &*error.message), (ErrorCode::INVALID_PARAMS, "no"));
        assert_eq!(error.data.unwrap()["code"], "INVALID_ARGUMENTS");
    }

    #[test]
    fn a_problem_says_what_to_do() {
        let text = |problem: Problem| {
            let result = serde_json::to_value(told(problem).unwrap()).unwrap();
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        let violation = Violation { pointer: "/n".into(), message: "is no number".into() };
        let problem = Problem::new(Code::InvalidArguments, "they do not fit");
        assert_eq!(
            text(Problem { errors: vec![violation], ..problem }),
            "INVALID_ARGUMENTS: they do not fit\n/n: is no number\n\
             Calling again with the same arguments will not help."
        );
        let problem = Problem::new(Code::Overloaded, "no room");
        let pause = Some(Duration::from_millis(1001));
        assert_eq!(
            text(Problem { retry_after: pause, ..problem }),
            "OVERLOADED: no room\nTry again in 2 s, not sooner."
        );
        assert_eq!(
            text(Problem::new(Code::UpstreamUnavailable, "no answer")),
            "UPSTREAM_UNAVAILABLE: no answer\nTrying again later may help."
        );
    }
}
