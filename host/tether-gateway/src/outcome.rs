//! What people and programs are told about an action: the one place where causes
//! become codes and sentences.

use std::time::Duration;

use tether_core::action::{Action, Event, State, Verdict};
use tether_core::confirm::{Reply, failed_code};
use tether_core::failure::Failure;
use tether_core::fault::{self, Point};
use tether_core::identity::Actor;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, StoreError, Swap};
use tether_core::port::databases::NotNow;
use tether_core::port::handlers::Outdated;
use tether_core::problem::{Code, Problem};

use crate::Gateway;

/// How soon it is worth asking again whether a disk has room.
const FULL: Duration = Duration::from_secs(30);

/// The same of a locked file.
const LOCKED: Duration = Duration::from_secs(1);

/// What a decision came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// This confirmation did it.
    Succeeded,
    /// Its yes is written down; it takes others as well, and nothing ran.
    Approved,
    /// It had been done: the stored result again.
    Replayed,
    /// The attempt failed in passing; it can be confirmed again.
    FailedRetryable,
    /// It failed for good, now or before.
    Failed,
    /// Nothing ran for this request, and why.
    Conflict(Code),
    /// It is declined, by this request or before.
    Declined,
}

/// The answer to a decision.
#[derive(Debug)]
pub struct Outcome {
    /// The action as it is now.
    pub action: Action,
    /// What the decision came to.
    pub told: Told,
    /// A sentence that only this answer has.
    note: Option<String>,
}

impl Outcome {
    pub(crate) fn new(action: Action, told: Told) -> Self {
        Self { action, told, note: None }
    }

    pub(crate) fn conflict(action: Action, code: Code) -> Self {
        Self::new(action, Told::Conflict(code))
    }

    pub(crate) fn outdated(action: Action, outdated: Outdated) -> Self {
        let note = format!("{outdated}. Nothing ran; propose it again.");
        Self { note: Some(note), ..Self::conflict(action, Code::ActionOutdated) }
    }

    /// What somebody is told whose confirmation ran nothing.
    pub(crate) fn replied(action: Action, reply: Reply) -> Result<Self, Problem> {
        let told = match reply {
            Reply::Approved => Told::Approved,
            Reply::Replay => Told::Replayed,
            Reply::Failed => Told::Failed,
            Reply::Conflict(Code::KeyExpired) => {
                let detail = "the action was done; its result is no longer kept, and it never runs again";
                return Err(Problem::new(Code::KeyExpired, detail));
            }
            Reply::Conflict(code) => Told::Conflict(code),
        };
        Ok(Self::new(action, told))
    }

    /// What the person who confirmed is told when the attempt has ended.
    pub(crate) fn of_attempt(action: Action) -> Self {
        let told = match action.state {
            State::Succeeded { .. } => Told::Succeeded,
            State::Pending { .. } => Told::FailedRetryable,
            State::Failed { .. } => Told::Failed,
            // What it did could not be told yet; it stays executing until it can.
            _ => Told::Conflict(Code::ActionExecuting),
        };
        Self::new(action, told)
    }

    /// The `errorCode` and `errorMessage` of this answer, unless it is a success.
    pub fn error(&self) -> Option<(Code, String)> {
        match self.told {
            Told::Succeeded | Told::Approved | Told::Replayed | Told::Declined => None,
            Told::FailedRetryable | Told::Failed => failure_of(&self.action),
            Told::Conflict(code) => {
                let message = self.note.clone().unwrap_or_else(|| conflict_message(code, &self.action));
                Some((code, message))
            }
        }
    }
}

/// The `errorCode` and `errorMessage` of an action that is only looked at: those
/// of the last attempt, if it failed.
pub fn failure_of(action: &Action) -> Option<(Code, String)> {
    let failure = action.state.failure()?;
    let code = failed_code(action);
    let message = match code {
        Code::ExecutionFailedRetryable => format!(
            "Execution failed transiently; the action remains confirmable ({}/{} attempts used).",
            action.state.attempts_used(),
            action.proposal.max_attempts,
        ),
        Code::ExecutionAttemptsExhausted => format!(
            "Execution failed and no attempt is left ({0}/{0} attempts used): {1}",
            action.state.attempts_used(),
            failure.message,
        ),
        _ => failure.message.clone(),
    };
    Some((code, message))
}

fn conflict_message(code: Code, action: &Action) -> String {
    match code {
        Code::ActionExecuting => "The action is executing; look at it again for what it came to.",
        Code::ActionChanged => {
            "The action has had other attempts than you saw; look at it before you confirm."
        }
        Code::ActionDecided => "The action was done by another confirmation; this one ran nothing.",
        Code::ActionDeclined => "The action was declined; propose it again if it is wanted after all.",
        Code::ActionExpired => "Nobody decided in time; propose it again if it is still wanted.",
        _ => return failure_of(action).map(|(_, message)| message).unwrap_or_default(),
    }
    .to_owned()
}

/// How the history tells the end of an attempt.
pub(crate) fn end_of_attempt(attempt: u32, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Succeeded(_) => format!("attempt {attempt} succeeded"),
        Verdict::Failed(Failure { cause, message, .. }) => {
            format!("attempt {attempt} failed ({}): {message}", cause.as_str())
        }
    }
}

/// What a caller is told when the store does not do it; the cause goes to the log.
pub fn store_problem(error: StoreError) -> Problem {
    match error {
        StoreError::Full => Problem {
            retry_after: Some(FULL),
            ..Problem::new(
                Code::StorageFull,
                "the disk that holds the actions is full; nothing was attempted",
            )
        },
        StoreError::Busy => Problem {
            retry_after: Some(LOCKED),
            ..Problem::new(
                Code::Overloaded,
                "another program holds the file of the actions; nothing was attempted",
            )
        },
        StoreError::UnknownCursor => {
            Problem::malformed("`cursor` is none that this list gave; leave it out to begin at the start")
        }
        StoreError::Changed { id, what } => {
            tracing::error!(
                action = id,
                what,
                "the stored history of this action does not match; `tether audit verify` finds what was changed"
            );
            Problem::new(
                Code::Internal,
                "what is stored of this action is not what its history says: nothing of it is told or done. \
                 Whoever runs the host finds what was changed with `tether audit verify`",
            )
        }
        StoreError::Failed(cause) => {
            tracing::error!(error = %cause, "the store of actions failed");
            Problem::new(Code::Internal, "the host could not read or write its store; its log has the cause")
        }
    }
}

/// What a person is told whose confirmation claimed nothing, because of what the write
/// needs.
pub(crate) fn not_begun(why: &NotNow) -> Problem {
    let detail = format!("nothing was attempted, and no attempt is used: {why}");
    match why {
        NotNow::Unreachable(_) => Problem::new(Code::UpstreamUnavailable, detail),
        NotNow::StorageFull { .. } => {
            Problem { retry_after: Some(FULL), ..Problem::new(Code::StorageFull, detail) }
        }
    }
}

impl Gateway {
    /// Moves an action, if nobody moved it since `action` was read.
    pub(crate) async fn swap(
        &self,
        action: &Action,
        state: State,
        ledger: Ledger,
        actor: Option<Actor>,
        detail: String,
    ) -> Result<Swap, Problem> {
        let change = Change { seen: action.clone(), state, ledger, actor, at: self.clock.now(), detail };
        self.write(change).await.map_err(store_problem)
    }

    async fn write(&self, change: Change) -> Result<Swap, StoreError> {
        let swap = self.actions.swap(change).await?;
        if let Swap::Done(action) = &swap
            && !matches!(action.state, State::Pending { .. } | State::Executing { .. })
        {
            // Nobody may need its component any more.
            self.components_due.at_once();
        }
        Ok(swap)
    }

    /// Expires an action whose time is over; the action as it then is.
    pub(crate) async fn expire(&self, action: Action) -> Result<Action, Problem> {
        let now = self.try_expire(action).await.map_err(store_problem)?;
        now.ok_or_else(crate::look::not_found)
    }

    /// The same for whoever nobody waits for; none where there is no such action.
    pub(crate) async fn try_expire(&self, action: Action) -> Result<Option<Action>, StoreError> {
        let at = self.clock.now();
        let Ok(state) = action.next(Event::Expired { at }) else { return Ok(Some(action)) };
        let (ledger, detail) = (action.ledger.clone(), "nobody decided in time".to_owned());
        fault::reached(Point::BeforeExpire);
        match self.write(Change { seen: action, state, ledger, actor: None, at, detail }).await? {
            Swap::Done(now) => {
                fault::reached(Point::Expired);
                Ok(Some(now))
            }
            Swap::Stale(now) => Ok(Some(now)),
            Swap::KeyTaken | Swap::Gone => Ok(None),
        }
    }
}
