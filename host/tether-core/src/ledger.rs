//! What the host saw an action do, all attempts together.

use crate::clock::Timestamp;
use crate::id::{DatabaseName, StepName};

/// What may be said about an action's effect to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was committed, and no unsafe request may have left.
    None,
    /// It succeeded, or a step committed.
    Applied,
    /// Nobody here can know; the ledger says what to check.
    Unknown,
}

/// One thing that the host saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// In which attempt.
    pub attempt: u32,
    /// What.
    pub fact: Fact,
}

/// What can be seen. Never holds parameters, headers, query strings or bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A transaction committed, together with its record.
    Committed {
        /// In which database.
        database: DatabaseName,
        /// Under which step; none for the main record.
        step: Option<StepName>,
        /// The SQL text of the statements that changed something.
        statements: Vec<String>,
    },
}

/// Everything that was seen, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger(Vec<Entry>);

impl Ledger {
    /// A ledger of `entries`, put in order of time.
    pub fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| (entry.at, entry.attempt));
        Self(entries)
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// What may be said about the effect, of an action that succeeded or not.
    pub fn effect(&self, succeeded: bool) -> Effect {
        let committed = self.0.iter().any(|entry| matches!(entry.fact, Fact::Committed { .. }));
        if succeeded || committed { Effect::Applied } else { Effect::None }
    }
}
