//! Errors that are not an action's outcome: RFC 9457.

use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong, as `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Names the kind of problem: `urn:tether:error:` and the code.
    pub r#type: String,
    /// The kind in words.
    pub title: String,
    /// The HTTP status again.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// The kind for programs.
    pub code: &'static str,
    /// What is wrong here, and what to do.
    pub detail: String,
    /// The call, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub request_id: Option<String>,
    /// Attempts that were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Not before so many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The handler's own code, where it gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handler_code: Option<String>,
    /// What does not fit the tool's schema.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<Violation>,
}

/// One way in which the arguments do not fit the schema.
#[derive(Debug, Serialize, ToSchema)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the value; empty for the whole.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}
