//! What happened to an action.

use serde::Serialize;
use tether_core::action;
use tether_core::identity::Channel;
use tether_core::port::actions;
use utoipa::ToSchema;

use super::time::Moment;

/// Everything that happened to an action, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// The transitions.
    pub events: Vec<HistoryEvent>,
}

/// One transition.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryEvent {
    /// When.
    pub at: Moment,
    /// Who; null for the host itself.
    #[schema(required)]
    pub actor: Option<String>,
    /// By which door: `api`, `inbox` or `mcp`; null for the host itself, and for what is
    /// older than this member.
    #[schema(required)]
    pub channel: Option<&'static str>,
    /// From where; null for the proposal.
    #[schema(required)]
    pub from: Option<ActionStatus>,
    /// To where.
    pub to: ActionStatus,
    /// Attempts that had begun by then.
    pub attempt: u32,
    /// What happened, for people.
    pub detail: String,
}

/// Where an action can stand.
#[derive(Debug, Serialize, ToSchema)]
pub enum ActionStatus {
    /// It waits for a person.
    Pending,
    /// An attempt runs, or what it did is not settled yet.
    Executing,
    /// It was done.
    Succeeded,
    /// It failed for good.
    Failed,
    /// A person said no.
    Declined,
    /// Nobody decided in time.
    Expired,
}

impl From<action::Status> for ActionStatus {
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

impl From<Vec<actions::HistoryEvent>> for History {
    fn from(events: Vec<actions::HistoryEvent>) -> Self {
        let events = events.into_iter().map(|event| HistoryEvent {
            at: event.at.into(),
            actor: event.actor.as_ref().map(|actor| actor.user.to_string()),
            channel: event.actor.and_then(|actor| actor.channel).map(Channel::as_str),
            from: event.from.map(ActionStatus::from),
            to: event.to.into(),
            attempt: event.attempt,
            detail: event.detail,
        });
        Self { events: events.collect() }
    }
}
