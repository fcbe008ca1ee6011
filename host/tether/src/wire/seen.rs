//! What our own client reads of a gateway's answers. Unknown fields are passed
//! over: a newer gateway may say more.

use serde::Deserialize;
use serde_json::value::RawValue;

/// An action, as a client sees it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenAction {
    /// Where it stands, or what became of a decision.
    pub status: String,
    /// Its id.
    pub action_id: String,
    /// The tool.
    pub command_type: String,
    /// Who proposed it.
    pub proposed_by: String,
    /// The arguments, to the letter; none once they are no longer kept.
    pub args: Option<Box<RawValue>>,
    /// Who said yes to the next attempt so far.
    #[serde(default)]
    pub approvals: Vec<SeenApproval>,
    /// How many persons it takes; 0 of an older gateway.
    #[serde(default)]
    pub approvals_needed: u32,
    /// What it would do.
    pub preview: Option<String>,
    /// Why that is not known.
    pub preview_error: Option<String>,
    /// Attempts that have begun.
    pub attempts_used: u32,
    /// Attempts that it may use.
    pub max_attempts: u32,
    /// When it was proposed.
    pub created_at: String,
    /// Until when it can be confirmed.
    pub expires_at: Option<String>,
    /// The result, to the letter.
    pub result: Option<Box<RawValue>>,
    /// Why there is none.
    pub error_code: Option<String>,
    /// The same for people.
    pub error_message: Option<String>,
    /// What the last attempt failed of.
    pub cause: Option<SeenCause>,
    /// What may be said about its effect.
    pub effect: Option<String>,
    /// What to check where that is unknown.
    pub check: Option<String>,
    /// What it was seen to do.
    pub ledger: Vec<SeenEntry>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// Why it was declined.
    pub decline_reason: Option<String>,
}

/// See [`SeenAction::approvals`].
#[derive(Debug, Clone, Deserialize)]
pub struct SeenApproval {
    /// Who.
    pub by: String,
}

/// See [`SeenAction::cause`].
#[derive(Debug, Clone, Deserialize)]
pub struct SeenCause {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
}

/// See [`SeenAction::ledger`].
#[derive(Debug, Clone, Deserialize)]
pub struct SeenEntry {
    /// When.
    pub at: String,
    /// In which attempt.
    pub attempt: u32,
    /// What.
    pub kind: String,
    /// The database.
    pub database: Option<String>,
    /// Of a request: its method.
    pub method: Option<String>,
    /// Of a request: to where.
    pub origin: Option<String>,
    /// Of a request: its path.
    pub path: Option<String>,
    /// Of a request: how it went.
    pub answer: Option<String>,
    /// Of a request: the status of its answer.
    pub status: Option<u16>,
    /// The step.
    pub step: Option<String>,
    /// What changed something.
    #[serde(default)]
    pub statements: Vec<String>,
}

/// A list of actions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenList {
    /// The actions.
    pub actions: Vec<SeenAction>,
    /// Where it goes on.
    pub next_cursor: Option<String>,
}

/// A history.
#[derive(Debug, Deserialize)]
pub struct SeenHistory {
    /// Its events.
    pub events: Vec<SeenEvent>,
}

/// One event of a history.
#[derive(Debug, Deserialize)]
pub struct SeenEvent {
    /// When.
    pub at: String,
    /// Who; none for the host.
    pub actor: Option<String>,
    /// By which door; none of an older gateway.
    pub channel: Option<String>,
    /// To where.
    pub to: String,
    /// What happened.
    pub detail: String,
}

/// What a read answered.
#[derive(Debug, Deserialize)]
pub struct SeenAnswer {
    /// The result, to the letter.
    pub result: Box<RawValue>,
    /// 1 and the retries that it took.
    pub attempts: u32,
}

/// A problem.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenProblem {
    /// For programs.
    pub code: String,
    /// For people.
    pub detail: String,
    /// Not before so many milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The handler's own code.
    pub handler_code: Option<String>,
    /// What does not fit.
    #[serde(default)]
    pub errors: Vec<SeenViolation>,
}

/// One thing that does not fit.
#[derive(Debug, Deserialize)]
pub struct SeenViolation {
    /// Where.
    pub pointer: String,
    /// What.
    pub message: String,
}

/// The body of a call: `arguments` as they are.
pub fn call_body(arguments: &str) -> String {
    format!("{{\"args\":{arguments}}}")
}

/// The body of a confirmation.
pub fn confirm_body(key: Option<&str>, attempts_used: u32) -> String {
    serde_json::json!({ "idempotencyKey": key, "attemptsUsed": attempts_used }).to_string()
}

/// The body of a decline.
pub fn decline_body(reason: Option<&str>) -> String {
    serde_json::json!({ "reason": reason }).to_string()
}
