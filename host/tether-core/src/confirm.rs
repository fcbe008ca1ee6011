//! What to do about a person's confirmation: decided from values alone.

use crate::action::{Action, Claim, Output, State};
use crate::clock::Timestamp;
use crate::problem::Code;

/// A person's yes.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Who, and with which key.
    pub claim: Claim,
    /// The attempts that the person saw used, where the request says so.
    pub attempts_seen: Option<u32>,
}

/// What follows from a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nobody was first: claim it, then run it.
    Claim,
    /// Its time is over: expire it, then tell so.
    Expire,
    /// An attempt runs: wait for its end, and never claim after that.
    Wait,
    /// Nothing runs.
    Tell(Reply),
}

/// What somebody is told whose confirmation runs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// It was done: the stored result again.
    Replay,
    /// It failed for good: the stored failure again.
    Failed,
    /// Something else came first, and this is what.
    Conflict(Code),
}

impl Confirmation {
    /// What follows from this confirmation of `action`.
    pub fn decide(&self, action: &Action, now: Timestamp) -> Decision {
        let reply = match &action.state {
            State::Pending { expires_at, .. } if now >= *expires_at => return Decision::Expire,
            State::Pending { attempts_used, .. } => match self.attempts_seen {
                Some(seen) if seen != *attempts_used => Reply::Conflict(Code::ActionChanged),
                _ => return Decision::Claim,
            },
            State::Executing { claim, .. } if self.may_join(claim) => return Decision::Wait,
            State::Executing { .. } => Reply::Conflict(Code::ActionExecuting),
            State::Succeeded { claim, output, .. } if self.may_join(claim) => match output {
                Output::Kept(_) => Reply::Replay,
                Output::Erased => Reply::Conflict(Code::KeyExpired),
            },
            State::Succeeded { .. } => Reply::Conflict(Code::ActionDecided),
            State::Failed { .. } => Reply::Failed,
            State::Declined { .. } => Reply::Conflict(Code::ActionDeclined),
            State::Expired { .. } => Reply::Conflict(Code::ActionExpired),
        };
        Decision::Tell(reply)
    }

    /// What a confirmation is told that waited for attempt `waited_for`, now that
    /// the action is as it is. None where that attempt has not ended yet.
    pub fn decide_after_wait(&self, action: &Action, waited_for: u32) -> Option<Reply> {
        match &action.state {
            State::Executing { attempt, .. } if *attempt == waited_for => None,
            State::Succeeded { output: Output::Kept(_), .. } => Some(Reply::Replay),
            state => {
                let code = match state {
                    State::Succeeded { .. } => Code::KeyExpired,
                    State::Failed { .. } => failed_code(action),
                    _ => Code::ExecutionFailedRetryable,
                };
                Some(Reply::Conflict(code))
            }
        }
    }

    /// The same key of the same person, or none: a repetition. Another key is
    /// somebody who means something else.
    fn may_join(&self, winner: &Claim) -> bool {
        self.claim.key.is_none() || self.claim == *winner
    }
}

/// The `errorCode` of an action's failure: whether another attempt is left, and
/// whether one was the reason.
pub fn failed_code(action: &Action) -> Code {
    match &action.state {
        State::Failed { failure, .. } if failure.cause.returns_write() => Code::ExecutionAttemptsExhausted,
        State::Failed { .. } => Code::ExecutionFailed,
        _ => Code::ExecutionFailedRetryable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::tests::{action, claim, ended, executing, pending};

    #[test]
    fn who_waited_for_a_success_is_never_told_that_it_failed() {
        let waited = Confirmation { claim: claim(), attempts_seen: None };
        let told = |state| waited.decide_after_wait(&action(state), 1);
        assert_eq!(told(executing(1)), None);
        let [mut succeeded, failed, ..] = ended();
        assert_eq!(told(succeeded.clone()), Some(Reply::Replay));
        let State::Succeeded { output, .. } = &mut succeeded else { unreachable!() };
        *output = Output::Erased;
        assert_eq!(told(succeeded), Some(Reply::Conflict(Code::KeyExpired)));
        assert_eq!(told(failed), Some(Reply::Conflict(Code::ExecutionFailed)));
        for state in [pending(1), executing(2)] {
            assert_eq!(told(state), Some(Reply::Conflict(Code::ExecutionFailedRetryable)));
        }
    }
}
