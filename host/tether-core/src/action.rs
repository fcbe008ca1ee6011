//! An action: a write that waits for, or has had, a person's decision.

mod proposal;

use std::time::Duration;

use crate::clock::Timestamp;
use crate::failure::Failure;
use crate::id::{ActionId, IdempotencyKey, UserId};
use crate::json::JsonText;
use crate::ledger::{Effect, Ledger};

pub use proposal::{Arguments, Preview, Proposal};

/// How often the action was changed; a compare-and-set expects one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// Who confirmed, and with which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The person.
    pub by: UserId,
    /// The key that the person's client sent.
    pub key: Option<IdempotencyKey>,
}

/// A person's yes that was not enough alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Who, and with which key.
    pub claim: Claim,
    /// When.
    pub at: Timestamp,
}

/// An output, while it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The text that the handler wrote.
    Kept(JsonText),
    /// Its retention is over.
    Erased,
}

/// Where an action stands. Each state carries what only it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Waits for a person.
    Pending {
        /// Attempts that failed so far, fewer than the action may use.
        attempts_used: u32,
        /// Until when it can be confirmed.
        expires_at: Timestamp,
        /// Why the last attempt failed.
        last_failure: Option<Failure>,
        /// Who said yes to the next attempt so far.
        approvals: Vec<Approval>,
    },
    /// An attempt runs, or what it did could not be settled yet.
    Executing {
        /// Counted from 1.
        attempt: u32,
        /// Who confirmed it.
        claim: Claim,
        /// When it was claimed.
        since: Timestamp,
        /// Until when it could have been confirmed.
        expires_at: Timestamp,
        /// Why the attempt before failed.
        last_failure: Option<Failure>,
        /// Who said yes to it before the one who claimed it.
        approvals: Vec<Approval>,
    },
    /// It was done.
    Succeeded {
        /// Attempts that it took.
        attempts_used: u32,
        /// Who confirmed the attempt that succeeded.
        claim: Claim,
        /// When it was settled.
        at: Timestamp,
        /// What the handler recorded or answered.
        output: Output,
        /// Who said yes to that attempt before the one who claimed it.
        approvals: Vec<Approval>,
    },
    /// It failed for good.
    Failed {
        /// Attempts that it took.
        attempts_used: u32,
        /// When it was settled.
        at: Timestamp,
        /// Why.
        failure: Failure,
    },
    /// A person said no.
    Declined {
        /// Attempts that failed before.
        attempts_used: u32,
        /// When.
        at: Timestamp,
        /// Who.
        by: UserId,
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// Nobody decided in time.
    Expired {
        /// Attempts that failed before.
        attempts_used: u32,
        /// When.
        at: Timestamp,
    },
}

/// A state without what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// See [`State::Pending`].
    Pending,
    /// See [`State::Executing`].
    Executing,
    /// See [`State::Succeeded`].
    Succeeded,
    /// See [`State::Failed`].
    Failed,
    /// See [`State::Declined`].
    Declined,
    /// See [`State::Expired`].
    Expired,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Executing, Self::Succeeded, Self::Failed, Self::Declined, Self::Expired];

    /// The status on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Executing => "Executing",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Declined => "Declined",
            Self::Expired => "Expired",
        }
    }

    /// The status that [`Status::as_str`] gave this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// What happens to an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A person confirmed it, and it takes more.
    Approved {
        /// Who.
        claim: Claim,
        /// When.
        at: Timestamp,
    },
    /// The last person that it takes confirmed it: an attempt begins.
    Claimed {
        /// Who.
        claim: Claim,
        /// When.
        at: Timestamp,
    },
    /// The attempt ended, and what it did is known.
    Settled {
        /// How.
        verdict: Verdict,
        /// When.
        at: Timestamp,
        /// How long a person then has to confirm it again, at least.
        expires_after: Duration,
    },
    /// A person said no.
    Declined {
        /// Who.
        by: UserId,
        /// Why.
        reason: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// Its time is over.
    Expired {
        /// When.
        at: Timestamp,
    },
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// With this output.
    Succeeded(JsonText),
    /// Without one.
    Failed(Failure),
}

/// The event cannot happen in this state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot happen to an action that is {status:?}")]
pub struct IllegalEvent {
    /// Where the action stands.
    pub status: Status,
    /// What was to happen.
    pub event: Event,
}

/// An action, with everything known about it.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its name for good, and the idempotency key of its write.
    pub id: ActionId,
    /// How often it changed.
    pub revision: Revision,
    /// What was proposed.
    pub proposal: Proposal,
    /// Where it stands.
    pub state: State,
    /// What it was seen to do.
    pub ledger: Ledger,
}

impl State {
    /// The state without what it carries.
    pub fn status(&self) -> Status {
        match self {
            Self::Pending { .. } => Status::Pending,
            Self::Executing { .. } => Status::Executing,
            Self::Succeeded { .. } => Status::Succeeded,
            Self::Failed { .. } => Status::Failed,
            Self::Declined { .. } => Status::Declined,
            Self::Expired { .. } => Status::Expired,
        }
    }

    /// Attempts that have begun.
    pub fn attempts_used(&self) -> u32 {
        match self {
            Self::Executing { attempt, .. } => *attempt,
            Self::Pending { attempts_used, .. }
            | Self::Succeeded { attempts_used, .. }
            | Self::Failed { attempts_used, .. }
            | Self::Declined { attempts_used, .. }
            | Self::Expired { attempts_used, .. } => *attempts_used,
        }
    }

    /// The failure that a person should know about: the last one, or the final
    /// one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Pending { last_failure, .. } => last_failure.as_ref(),
            Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Who said yes to the next attempt, or to the last one, beside who claimed it.
    pub fn approvals(&self) -> &[Approval] {
        match self {
            Self::Pending { approvals, .. }
            | Self::Executing { approvals, .. }
            | Self::Succeeded { approvals, .. } => approvals,
            _ => &[],
        }
    }
}

impl Action {
    /// The state after `event`. The one place that says what may follow what.
    pub fn next(&self, event: Event) -> Result<State, IllegalEvent> {
        let status = self.state.status();
        match (&self.state, event) {
            (
                State::Pending { attempts_used, expires_at, last_failure, approvals },
                Event::Approved { claim, at },
            ) if at < *expires_at
                && !said_yes(approvals, &claim.by)
                && self.approvals_missing(&claim.by) > 0 =>
            {
                Ok(State::Pending {
                    attempts_used: *attempts_used,
                    expires_at: *expires_at,
                    last_failure: last_failure.clone(),
                    approvals: approvals.iter().cloned().chain([Approval { claim, at }]).collect(),
                })
            }

            (
                State::Pending { attempts_used, expires_at, last_failure, approvals },
                Event::Claimed { claim, at },
            ) if at < *expires_at
                && !said_yes(approvals, &claim.by)
                && self.approvals_missing(&claim.by) == 0 =>
            {
                Ok(State::Executing {
                    attempt: attempts_used + 1,
                    claim,
                    since: at,
                    expires_at: *expires_at,
                    last_failure: last_failure.clone(),
                    approvals: approvals.clone(),
                })
            }

            (State::Pending { attempts_used, .. }, Event::Declined { by, reason, at }) => {
                Ok(State::Declined { attempts_used: *attempts_used, at, by, reason })
            }

            (State::Pending { attempts_used, expires_at, .. }, Event::Expired { at })
                if at >= *expires_at =>
            {
                Ok(State::Expired { attempts_used: *attempts_used, at })
            }

            (
                State::Executing { attempt, claim, expires_at, approvals, .. },
                Event::Settled { verdict, at, expires_after },
            ) => Ok(match verdict {
                Verdict::Succeeded(output) => State::Succeeded {
                    attempts_used: *attempt,
                    claim: claim.clone(),
                    at,
                    output: Output::Kept(output),
                    approvals: approvals.clone(),
                },
                Verdict::Failed(failure) => {
                    if failure.cause.returns_write() && *attempt < self.proposal.max_attempts {
                        State::Pending {
                            attempts_used: *attempt,
                            expires_at: at.after(expires_after).max(*expires_at),
                            last_failure: Some(failure),
                            // Another attempt is another decision, of as many.
                            approvals: Vec::new(),
                        }
                    } else {
                        State::Failed { attempts_used: *attempt, at, failure }
                    }
                }
            }),

            (_, event) => Err(IllegalEvent { status, event }),
        }
    }

    /// How many more persons the next attempt takes once `by` has said yes, now or
    /// before. Where it is none, `by` may claim it, unless it has said yes before.
    pub fn approvals_missing(&self, by: &UserId) -> u32 {
        let approvals = self.state.approvals();
        let others = approvals.iter().filter(|approval| approval.claim.by != *by).count();
        let have = u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1);
        self.proposal.people.saturating_sub(have)
    }

    /// What may be said about the effect; nothing before the first attempt has
    /// ended, or while one runs.
    pub fn effect(&self) -> Option<Effect> {
        match self.state.status() {
            Status::Executing => None,
            _ if self.state.attempts_used() == 0 => None,
            status => Some(self.ledger.effect(status == Status::Succeeded)),
        }
    }
}

/// Whether `by` is among those who said yes.
pub(crate) fn said_yes(approvals: &[Approval], by: &UserId) -> bool {
    approvals.iter().any(|approval| approval.claim.by == *by)
}

#[cfg(test)]
pub(crate) mod tests;
