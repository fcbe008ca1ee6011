//! Bodies of requests.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::value::{Map, RawValue, Value};
use tether_core::id::IdempotencyKey;
use tether_core::json::{InvalidJson, JsonText};
use utoipa::ToSchema;

/// Why a body is not taken. The text is for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBody {
    /// It is no JSON that two readers would read alike.
    #[error("the body is not taken: {0}")]
    Json(#[from] InvalidJson),
    /// It is JSON of another shape.
    #[error("the body does not fit: {0}")]
    Shape(String),
}

/// The body of `POST /v1/tools/{name}/calls`.
#[derive(Debug, serde::Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CallRequest<'a> {
    /// The tool's arguments; `{}` where they are left out.
    #[serde(borrow, default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>, nullable = false)]
    args: Option<&'a RawValue>,
}

/// The body of `POST /v1/actions/{actionId}/confirm`.
#[derive(Debug, Default, serde::Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmRequest {
    /// Makes a repetition of this confirmation recognisable.
    #[schema(min_length = 1, max_length = 255)]
    idempotency_key: Option<String>,
    /// The attempts that the person saw used: where there have been more, nothing
    /// runs.
    pub attempts_used: Option<u32>,
}

/// The body of `POST /v1/actions/{actionId}/decline`.
#[derive(Debug, Default, serde::Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclineRequest {
    /// Why, in the person's words.
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// The longest reason of a decline, in characters.
const LONGEST_REASON: usize = 1000;

impl CallRequest<'_> {
    /// The arguments of a body.
    pub fn arguments(body: &str) -> Result<JsonText, InvalidBody> {
        let request: CallRequest<'_> = read(body)?;
        match request.args {
            Some(args) => Ok(JsonText::parse(args.get())?),
            None => Ok(JsonText::empty_object()),
        }
    }
}

impl ConfirmRequest {
    /// Reads a body.
    pub fn parse(body: &str) -> Result<Self, InvalidBody> {
        read_decision(body)
    }

    /// The key, where there is one.
    pub fn key(&self) -> Result<Option<IdempotencyKey>, InvalidBody> {
        let key = self.idempotency_key.as_deref().map(str::parse).transpose();
        key.map_err(|error| InvalidBody::Shape(format!("idempotencyKey: {error}")))
    }
}

impl DeclineRequest {
    /// Reads a body.
    pub fn parse(body: &str) -> Result<Self, InvalidBody> {
        let request: Self = read_decision(body)?;
        if request.reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
            return Err(InvalidBody::Shape(format!("reason: it has more than {LONGEST_REASON} characters")));
        }
        Ok(request)
    }
}

/// What other systems put the decider's name into. It is passed over: who decides is who
/// the token says. What else is unknown is an error, so that no misspelt precondition is
/// lost.
const PERSONS: &[&str] = &[
    "user",
    "approver",
    "approvedBy",
    "confirmedBy",
    "decidedBy",
    "declinedBy",
    "actor",
    "by",
    "tenant",
    "roles",
];

/// The same as [`read`], of a body that may name persons.
fn read_decision<T: DeserializeOwned>(body: &str) -> Result<T, InvalidBody> {
    let mut members: Map<String, Value> = read(body)?;
    members.retain(|name, _| !PERSONS.contains(&name.as_str()));
    serde_json::from_value(Value::Object(members)).map_err(|error| InvalidBody::Shape(error.to_string()))
}

/// Reads an object; nothing at all is an empty one.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a str) -> Result<T, InvalidBody> {
    let body = if body.trim_ascii().is_empty() { "{}" } else { body };
    // Finds what serde would let pass: names that occur twice, at any depth.
    JsonText::parse(body)?;
    // serde takes an array for a struct as well.
    if !body.trim_ascii_start().starts_with('{') {
        return Err(InvalidBody::Shape("it must be a JSON object".to_owned()));
    }
    serde_json::from_str(body).map_err(|error| InvalidBody::Shape(error.to_string()))
}

/// `null` is a value like any other here, and not the lack of one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_left_out_are_an_empty_object() {
        let check = |body: &str, arguments: &str| {
            assert_eq!(CallRequest::arguments(body).unwrap().as_str(), arguments, "{body:?}");
        };
        check("", "{}");
        check("{}", "{}");
        check(r#"{"args":null}"#, "null");
        check(r#"{"args": {"n":9007199254740993,"m" : 1.0} }"#, r#"{"n":9007199254740993,"m" : 1.0}"#);
    }

    #[test]
    fn what_is_wrong_with_a_body_is_named_with_its_place() {
        let check = |body: &str, part: &str| {
            let error = CallRequest::arguments(body).unwrap_err().to_string();
            assert!(error.contains(part), "{body:?}: {error}");
        };
        check("{\"args\":", "line 1 column 8");
        check(r#"{"arguments":{}}"#, "unknown field `arguments`, expected `args`");
        check(r#"{"args":{"a":{"b":1,"b":2}}}"#, "\"b\" occurs twice");
        check(r#"{"args":1,"args":2}"#, "\"args\" occurs twice");
        check("[{}]", "must be a JSON object");
    }

    #[test]
    fn a_confirmation_may_carry_a_key_and_what_was_seen() {
        let request = ConfirmRequest::parse(r#"{"idempotencyKey":"k","attemptsUsed":1}"#).unwrap();
        assert_eq!(request.key().unwrap().unwrap().as_str(), "k");
        assert_eq!(request.attempts_used, Some(1));
        assert_eq!(ConfirmRequest::parse("").unwrap().key(), Ok(None));
        assert_eq!(ConfirmRequest::parse(r#"{"idempotencyKey":null}"#).unwrap().key(), Ok(None));
        assert!(ConfirmRequest::parse(r#"{"idempotencyKey":""}"#).unwrap().key().is_err());
        assert!(ConfirmRequest::parse(r#"{"attemptsUsed":-1}"#).is_err());
        assert!(ConfirmRequest::parse(r#"{"attemptUsed":1}"#).is_err(), "a precondition is not lost");
        assert!(ConfirmRequest::parse(r#"{"attemptsUsed":0,"attemptsUsed":1}"#).is_err());
    }

    #[test]
    fn f29_a_name_in_a_body_is_passed_over() {
        for name in PERSONS {
            let request = ConfirmRequest::parse(&format!(r#"{{"{name}":"boss","attemptsUsed":2}}"#)).unwrap();
            assert_eq!(request.attempts_used, Some(2), "{name}");
            let request =
                DeclineRequest::parse(&format!(r#"{{"reason":"no","{name}":{{"id":1}}}}"#)).unwrap();
            assert_eq!(request.reason.as_deref(), Some("no"), "{name}");
        }
        assert!(CallRequest::arguments(r#"{"user":"boss"}"#).is_err(), "a proposal has its own arguments");
    }
}
