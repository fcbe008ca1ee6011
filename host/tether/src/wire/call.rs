//! The answer of a read.

use serde::Serialize;
use tether_gateway::Answer;
use utoipa::ToSchema;

use super::splice::Spliced;

/// What a read found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadAnswer {
    /// Always `Succeeded`: what failed is a problem.
    pub status: ReadStatus,
    /// The idempotency key that the handler saw in every attempt.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub request_id: String,
    /// The tool.
    pub tool: String,
    /// What the handler answered.
    #[schema(value_type = serde_json::Value)]
    pub result: Spliced,
    /// 1 and the retries that it took.
    pub attempts: u32,
}

/// How a read ended.
#[derive(Debug, Serialize, ToSchema)]
pub enum ReadStatus {
    /// With a result.
    Succeeded,
}

impl From<Answer> for ReadAnswer {
    fn from(answer: Answer) -> Self {
        Self {
            status: ReadStatus::Succeeded,
            request_id: answer.request_id.to_string(),
            tool: answer.tool.to_string(),
            result: answer.result.into(),
            attempts: answer.attempts,
        }
    }
}
