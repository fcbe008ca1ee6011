//! What the host saw an action do, all attempts together.

use crate::clock::Timestamp;
use crate::destination::Method;
use crate::failure::is_transient_status;
use crate::id::{DatabaseName, StepName};

/// What may be said about an action's effect to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was committed, and no unsafe request may have left.
    None,
    /// It succeeded, or a step committed, and no request is in doubt.
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
    /// A request of a write was about to leave.
    Sent {
        /// Which.
        request: Request,
        /// How it went.
        answer: Answer,
    },
}

/// A request, as far as it may be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Scheme, host, and the port where it is not the scheme's own.
    pub origin: String,
    /// The path, without the query.
    pub path: String,
    /// The step, where the handler named one.
    pub step: Option<StepName>,
}

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It may have left, and no whole answer came back: it may have acted.
    InDoubt,
    /// It never left.
    NotSent,
    /// It was answered, with this status.
    Status(u16),
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
        let (mut committed, mut left, mut in_doubt) = (false, false, false);
        for entry in &self.0 {
            match &entry.fact {
                Fact::Committed { .. } => committed = true,
                Fact::Sent { request, answer } if !request.method.is_safe() => {
                    left |= *answer != Answer::NotSent;
                    in_doubt |= match answer {
                        Answer::InDoubt => true,
                        // Said by whoever stands before the peer, which may have acted.
                        Answer::Status(status) => !succeeded && is_transient_status(*status),
                        Answer::NotSent => false,
                    };
                }
                Fact::Sent { .. } => {}
            }
        }
        match (in_doubt, succeeded || committed, left) {
            (true, _, _) | (false, false, true) => Effect::Unknown,
            (false, true, _) => Effect::Applied,
            (false, false, false) => Effect::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(fact: Fact) -> Entry {
        Entry { at: Timestamp::EPOCH, attempt: 1, fact }
    }

    fn committed() -> Entry {
        entry(Fact::Committed { database: "main".parse().unwrap(), step: None, statements: vec![] })
    }

    fn sent(method: &str, answer: Answer) -> Entry {
        let (origin, path) = ("https://a.test".to_owned(), "/refunds".to_owned());
        let request = Request { method: method.parse().unwrap(), origin, path, step: None };
        entry(Fact::Sent { request, answer })
    }

    #[track_caller]
    fn check(entries: Vec<Entry>, failed: Effect, succeeded: Effect) {
        let ledger = Ledger::new(entries);
        assert_eq!((ledger.effect(false), ledger.effect(true)), (failed, succeeded), "{ledger:?}");
    }

    #[test]
    fn what_may_be_said_of_the_effect() {
        use Effect::{Applied, None, Unknown};
        check(vec![], None, Applied);
        check(vec![committed()], Applied, Applied);
        check(vec![sent("POST", Answer::NotSent)], None, Applied);
        check(vec![sent("POST", Answer::Status(200))], Unknown, Applied);
        check(vec![sent("POST", Answer::Status(200)), committed()], Applied, Applied);
        check(vec![sent("POST", Answer::Status(504)), committed()], Unknown, Applied);
        check(vec![sent("POST", Answer::InDoubt)], Unknown, Unknown);
        check(vec![sent("POST", Answer::InDoubt), committed()], Unknown, Unknown);
        check(vec![sent("GET", Answer::InDoubt)], None, Applied);
    }
}
