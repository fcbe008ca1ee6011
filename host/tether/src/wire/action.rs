//! An action, and the outcome of a decision about it.

use serde::Serialize;
use tether_core::action::{self, Output, Preview, State};
use tether_core::ledger;
use tether_core::problem::Code;
use utoipa::ToSchema;

use super::evidence;
use super::handler::{Component, Endpoint, handler};
use super::ledger::LedgerEntry;
use super::splice::Spliced;
use super::time::Moment;

/// A write that waits for, or has had, a person's decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Where it stands; or, answering a decision, what became of that.
    pub status: Status,
    /// Names it for good; the idempotency key that its handler sees.
    #[schema(pattern = "^[0-9a-f]{32}$")]
    pub action_id: String,
    /// The tool.
    pub command_type: String,
    /// Whose data it is about.
    pub tenant: String,
    /// Who proposed it.
    pub proposed_by: String,
    /// The arguments, as they were received; null once they are no longer kept.
    #[schema(required, value_type = Option<Object>)]
    pub args: Option<Spliced>,
    /// Whether arguments and preview were erased, because their retention is over.
    pub args_erased: bool,
    /// What the handler says it would do, in plain text.
    #[schema(required)]
    pub preview: Option<String>,
    /// Why there is no preview, where the handler could not make one.
    #[schema(required)]
    pub preview_error: Option<String>,
    /// Attempts that have begun.
    pub attempts_used: u32,
    /// Attempts that it may use in all.
    pub max_attempts: u32,
    /// When it was proposed.
    pub created_at: Moment,
    /// Until when it can be confirmed; null once it was decided.
    #[schema(required)]
    pub expires_at: Option<Moment>,
    /// What the handler recorded; null unless it succeeded.
    #[schema(required, value_type = serde_json::Value)]
    pub result: Option<Spliced>,
    /// Why there is no result: a stable code.
    #[schema(required)]
    pub error_code: Option<&'static str>,
    /// The same for people.
    #[schema(required)]
    pub error_message: Option<String>,
    /// What the last attempt failed of.
    #[schema(required)]
    pub cause: Option<Cause>,
    /// The handler's own code, where it gave one.
    #[schema(required)]
    pub handler_code: Option<String>,
    /// What may be said about its effect; null before an attempt has ended.
    #[schema(required)]
    pub effect: Option<Effect>,
    /// Where the effect is unknown: what to check before it is repeated.
    #[schema(required)]
    pub check: Option<String>,
    /// What it was seen to do, all attempts together, oldest first.
    pub ledger: Vec<LedgerEntry>,
    /// Who said yes to the next attempt, or to the last one, before the one who decided.
    pub approvals: Vec<Approval>,
    /// How many persons an attempt takes.
    pub approvals_needed: u32,
    /// Who confirmed or declined it.
    #[schema(required)]
    pub decided_by: Option<String>,
    /// Why it was declined.
    #[schema(required)]
    pub decline_reason: Option<String>,
    /// The component that it is bound to, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub component: Option<Component>,
    /// The endpoint that it is bound to, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub endpoint: Option<Endpoint>,
}

/// A person's yes that was not enough alone.
#[derive(Debug, Serialize, ToSchema)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// When.
    pub at: Moment,
}

impl From<&action::Approval> for Approval {
    fn from(approval: &action::Approval) -> Self {
        Self { by: approval.claim.by.to_string(), at: approval.at.into() }
    }
}

/// Where an action stands, or what became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub enum Status {
    /// It waits for a person.
    Pending,
    /// An attempt runs, or what it did is not settled yet.
    Executing,
    /// It was done.
    Succeeded,
    /// It was done before; this is the result of then.
    Replayed,
    /// The attempt failed; the action can be confirmed again.
    FailedRetryable,
    /// It failed for good.
    Failed,
    /// Nothing ran, since another decision was first.
    Conflict,
    /// A person said no.
    Declined,
    /// Nobody decided in time.
    Expired,
}

/// What may be said about an action's effect.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub enum Effect {
    /// Nothing was committed, and no unsafe request may have left.
    None,
    /// It succeeded, or a step of it committed.
    Applied,
    /// Nobody here can know; the ledger says what to check.
    Unknown,
}

/// Why an attempt failed.
#[derive(Debug, Serialize, ToSchema)]
pub struct Cause {
    /// A stable code.
    pub code: &'static str,
    /// The same for people.
    pub message: String,
}

/// A part of a list, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionList {
    /// The actions.
    pub actions: Vec<Action>,
    /// The `cursor` of the next part; null at the end.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// An action with what an answer says about it.
#[derive(Debug)]
pub struct Viewed<'a> {
    /// The action.
    pub action: &'a action::Action,
    /// The status to tell.
    pub status: Status,
    /// The code and message to tell.
    pub error: Option<(Code, String)>,
}

impl From<Viewed<'_>> for Action {
    fn from(viewed: Viewed<'_>) -> Self {
        let action = viewed.action;
        let proposal = &action.proposal;
        let failure = action.state.failure();
        let (preview, preview_error) = match &proposal.preview {
            Preview::Text(text) => (Some(text.clone()), None),
            Preview::None | Preview::Erased => (None, None),
            Preview::Unavailable(why) => (None, Some(why.clone())),
        };
        let (error_code, error_message) =
            viewed.error.map(|(code, message)| (code.as_str(), message)).unzip();
        let (component, endpoint) = handler(&proposal.binding);
        let effect = action.effect();
        Self {
            status: viewed.status,
            action_id: action.id.to_string(),
            command_type: proposal.tool.to_string(),
            tenant: proposal.tenant.to_string(),
            proposed_by: proposal.proposer.to_string(),
            args: proposal.arguments.kept().cloned().map(Spliced::from),
            args_erased: proposal.arguments.kept().is_none(),
            preview,
            preview_error,
            attempts_used: action.state.attempts_used(),
            max_attempts: proposal.max_attempts,
            created_at: proposal.created_at.into(),
            expires_at: expires_at(&action.state),
            result: result(&action.state),
            error_code,
            error_message,
            cause: failure.map(|failure| Cause {
                code: failure.cause.code().as_str(),
                message: failure.message.clone(),
            }),
            handler_code: failure.and_then(|failure| failure.handler_code.clone()),
            effect: effect.map(Effect::from),
            check: effect.and_then(|effect| evidence::check(effect, &action.ledger)),
            ledger: action.ledger.entries().iter().map(LedgerEntry::from).collect(),
            approvals: action.state.approvals().iter().map(Approval::from).collect(),
            approvals_needed: proposal.people,
            decided_by: decided_by(&action.state),
            decline_reason: match &action.state {
                State::Declined { reason, .. } => reason.clone(),
                _ => None,
            },
            component,
            endpoint,
        }
    }
}

fn expires_at(state: &State) -> Option<Moment> {
    match state {
        State::Pending { expires_at, .. } | State::Executing { expires_at, .. } => Some((*expires_at).into()),
        _ => None,
    }
}

fn result(state: &State) -> Option<Spliced> {
    match state {
        State::Succeeded { output: Output::Kept(text), .. } => Some(text.clone().into()),
        _ => None,
    }
}

fn decided_by(state: &State) -> Option<String> {
    match state {
        State::Executing { claim, .. } | State::Succeeded { claim, .. } => Some(claim.by.to_string()),
        State::Declined { by, .. } => Some(by.to_string()),
        _ => None,
    }
}

impl From<action::Status> for Status {
    fn from(status: action::Status) -> Self {
        match status {
            action::Status::Pending => Self::Pending,
            action::Status::Executing => Self::Executing,
            action::Status::Succeeded => Self::Succeeded,
            action::Status::Failed => Self::Failed,
            action::Status::Declined => Self::Declined,
            action::Status::Expired => Self::Expired,
        }
    }
}

impl From<ledger::Effect> for Effect {
    fn from(effect: ledger::Effect) -> Self {
        match effect {
            ledger::Effect::None => Self::None,
            ledger::Effect::Applied => Self::Applied,
            ledger::Effect::Unknown => Self::Unknown,
        }
    }
}
