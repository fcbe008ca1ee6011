//! What an action was seen to do.

use serde::Serialize;
use tether_core::ledger::{Answer, Entry, Fact};
use utoipa::ToSchema;

use super::time::Moment;

/// One thing that the host saw an action do.
#[derive(Debug, Serialize, ToSchema)]
pub struct LedgerEntry {
    /// When.
    pub at: Moment,
    /// In which attempt.
    pub attempt: u32,
    /// What.
    #[serde(flatten)]
    pub fact: LedgerFact,
}

/// What a ledger entry is about. Never holds parameters, headers, query strings or
/// bodies.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum LedgerFact {
    /// A transaction committed, together with its record.
    Committed {
        /// The database.
        database: String,
        /// The step; null for the main record.
        #[schema(required)]
        step: Option<String>,
        /// The SQL text of the statements that changed something.
        statements: Vec<String>,
    },
    /// A request was about to leave.
    Sent {
        /// The method.
        method: String,
        /// Scheme, host, and the port where it is not the scheme's own.
        origin: String,
        /// The path, without the query.
        path: String,
        /// The step, where the handler named one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        step: Option<String>,
        /// How it went.
        answer: SentAnswer,
        /// The status, where it was answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        status: Option<u16>,
    },
}

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SentAnswer {
    /// It may have left, and no whole answer came back: it may have acted.
    InDoubt,
    /// It never left.
    NotSent,
    /// It was answered.
    Answered,
}

impl From<&Entry> for LedgerEntry {
    fn from(entry: &Entry) -> Self {
        Self { at: entry.at.into(), attempt: entry.attempt, fact: LedgerFact::from(&entry.fact) }
    }
}

impl From<&Fact> for LedgerFact {
    fn from(fact: &Fact) -> Self {
        match fact {
            Fact::Committed { database, step, statements } => Self::Committed {
                database: database.to_string(),
                step: step.as_ref().map(ToString::to_string),
                statements: statements.clone(),
            },
            Fact::Sent { request, answer } => {
                let (answer, status) = match answer {
                    Answer::InDoubt => (SentAnswer::InDoubt, None),
                    Answer::NotSent => (SentAnswer::NotSent, None),
                    Answer::Status(status) => (SentAnswer::Answered, Some(*status)),
                };
                Self::Sent {
                    method: request.method.to_string(),
                    origin: request.origin.clone(),
                    path: request.path.clone(),
                    step: request.step.as_ref().map(ToString::to_string),
                    answer,
                    status,
                }
            }
        }
    }
}
