//! What to do about a person's confirmation: decided from values alone.

use crate::action::{Action, Approval, Claim, Output, State, said_yes};
use crate::clock::Timestamp;
use crate::id::UserId;
use crate::problem::Code;

/// A person's yes.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Who, and with which key.
    pub claim: Claim,
    /// What the person saw of the action.
    pub seen: Seen,
    /// Whether the person has used this key before, for this action.
    pub repeats: bool,
}

/// What a person saw of an action before the yes, as far as the request says so: where the
/// action is another by now, nothing runs, and nothing is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// The attempts that were used.
    pub attempts: Option<u32>,
    /// How many had said yes.
    pub approvals: Option<u32>,
}

impl Seen {
    /// Whether nothing came in between, for an action that waits.
    fn still_holds(self, attempts_used: u32, approvals: &[Approval], by: &UserId) -> bool {
        let same = |seen: Option<u32>, now: usize| seen.is_none_or(|seen| seen as usize == now);
        // Whoever said yes already sees that as well, or sent it twice.
        same(self.attempts, attempts_used as usize)
            && (said_yes(approvals, by) || same(self.approvals, approvals.len()))
    }
}

/// What follows from a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nobody was first, and it is enough: claim it, then run it.
    Claim,
    /// It takes others as well: write it down, and run nothing.
    Approve,
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
    /// Its yes is written down, and it takes others as well.
    Approved,
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
            State::Pending { attempts_used, approvals, .. } => match &self.claim.by {
                by if !self.seen.still_holds(*attempts_used, approvals, by) => {
                    Reply::Conflict(Code::ActionChanged)
                }
                by if said_yes(approvals, by) => Reply::Approved,
                _ if self.is_of_another_attempt(action) => Reply::Conflict(Code::ExecutionFailedRetryable),
                by if action.approvals_missing(by) > 0 => return Decision::Approve,
                _ => return Decision::Claim,
            },
            State::Executing { claim, approvals, .. } if self.may_join(claim, approvals) => {
                return Decision::Wait;
            }
            State::Executing { .. } => Reply::Conflict(Code::ActionExecuting),
            State::Succeeded { claim, approvals, output, .. } if self.may_join(claim, approvals) => {
                match output {
                    Output::Kept(_) => Reply::Replay,
                    Output::Erased => Reply::Conflict(Code::KeyExpired),
                }
            }
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

    /// Where it takes several, a yes counts for the attempt that it was given for. What comes
    /// again with its key, once that attempt has failed, is none to the next one: unless it
    /// says that the person saw the failure.
    fn is_of_another_attempt(&self, pending: &Action) -> bool {
        self.repeats && self.seen.attempts.is_none() && pending.proposal.people > 1
    }

    /// The same key of the same person, or none: a repetition, also of a yes that was not
    /// enough alone. Another key is somebody who means something else.
    fn may_join(&self, winner: &Claim, approvals: &[Approval]) -> bool {
        self.claim.key.is_none()
            || self.claim == *winner
            || approvals.iter().any(|approval| approval.claim == self.claim)
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
    use crate::action::tests::{action, approval, approved, claim, ended, executing, pending};

    fn of(user: &str, key: Option<&str>) -> Confirmation {
        let by: UserId = user.parse().unwrap();
        let key = key.map(|key| key.parse().unwrap());
        Confirmation { claim: Claim { by, key }, seen: Seen::default(), repeats: false }
    }

    #[test]
    fn a_yes_is_enough_where_it_is_the_last_that_is_missing() {
        let decide = |people, approvals: &[&str], by: &str| {
            let mut action = action(approved(0, approvals));
            action.proposal.people = people;
            of(by, None).decide(&action, Timestamp::EPOCH)
        };
        assert_eq!(decide(1, &[], "ann"), Decision::Claim);
        assert_eq!(decide(2, &[], "ann"), Decision::Approve);
        assert_eq!(decide(2, &["ann"], "bob"), Decision::Claim);
        assert_eq!(decide(2, &["ann"], "ann"), Decision::Tell(Reply::Approved), "nobody is two people");
        assert_eq!(decide(3, &["ann"], "bob"), Decision::Approve);
        assert_eq!(decide(3, &["ann", "bob"], "ann"), Decision::Tell(Reply::Approved));
        assert_eq!(decide(3, &["ann", "bob"], "cat"), Decision::Claim);
    }

    #[test]
    fn a_yes_is_for_what_was_seen() {
        let decide = |seen: (Option<u32>, Option<u32>), approvals: &[&str]| {
            let mut action = action(approved(1, approvals));
            action.proposal.people = 3;
            let seen = Seen { attempts: seen.0, approvals: seen.1 };
            Confirmation { seen, ..of("ann", None) }.decide(&action, Timestamp::EPOCH)
        };
        let changed = Decision::Tell(Reply::Conflict(Code::ActionChanged));
        assert_eq!(decide((Some(1), Some(0)), &[]), Decision::Approve);
        assert_eq!(decide((Some(0), Some(0)), &[]), changed);
        assert_eq!(decide((Some(1), Some(1)), &["bob"]), Decision::Approve);
        assert_eq!(decide((Some(1), Some(0)), &["bob"]), changed);
        assert_eq!(decide((Some(1), Some(1)), &["bob", "cat"]), changed, "it would be the last");
        assert_eq!(decide((Some(1), Some(2)), &["bob", "cat"]), Decision::Claim);
        assert_eq!(decide((None, None), &["bob", "cat"]), Decision::Claim, "nobody said what was seen");
        // The same yes once more.
        assert_eq!(decide((Some(1), Some(0)), &["ann"]), Decision::Tell(Reply::Approved));
        assert_eq!(decide((Some(1), Some(0)), &["ann", "bob"]), Decision::Tell(Reply::Approved));
        assert_eq!(decide((Some(0), Some(0)), &["ann"]), changed);
    }

    #[test]
    fn where_it_takes_several_a_yes_that_comes_again_is_none_to_another_attempt() {
        let decide = |people, approvals: &[&str], attempts, repeats| {
            let mut action = action(approved(1, approvals));
            action.proposal.people = people;
            let seen = Seen { attempts, approvals: None };
            Confirmation { seen, repeats, ..of("ann", Some("k")) }.decide(&action, Timestamp::EPOCH)
        };
        let failed = Decision::Tell(Reply::Conflict(Code::ExecutionFailedRetryable));
        assert_eq!(decide(2, &[], None, true), failed, "not an approval");
        assert_eq!(decide(2, &["bob"], None, true), failed, "nor a claim");
        assert_eq!(decide(2, &["ann"], None, true), Decision::Tell(Reply::Approved), "of this attempt");
        assert_eq!(decide(2, &[], Some(1), true), Decision::Approve, "the failure was seen");
        assert_eq!(decide(2, &[], None, false), Decision::Approve);
        assert_eq!(decide(1, &[], None, true), Decision::Claim, "nobody else builds upon it");
    }

    #[test]
    fn what_is_decided_is_what_may_happen() {
        use crate::action::Event;
        for people in 1..=4 {
            for said in 0..people as usize {
                let users = ["ann", "bob", "cat", "dan"];
                let mut action = action(approved(1, &users[..said]));
                action.proposal.people = people;
                for by in users {
                    let (claim, at) = (of(by, None).claim, Timestamp::EPOCH);
                    let decision = of(by, None).decide(&action, at);
                    let approves = action.next(Event::Approved { claim: claim.clone(), at }).is_ok();
                    let claims = action.next(Event::Claimed { claim, at }).is_ok();
                    assert_eq!(approves, decision == Decision::Approve, "{by} of {people}, after {said}");
                    assert_eq!(claims, decision == Decision::Claim, "{by} of {people}, after {said}");
                }
            }
        }
    }

    #[test]
    fn whoever_approved_may_ask_again_what_came_of_it() {
        let mut running = executing(1);
        let State::Executing { approvals, .. } = &mut running else { unreachable!() };
        *approvals = vec![approval("bob", Some("k"))];
        let decide =
            |user, key, state: &State| of(user, key).decide(&action(state.clone()), Timestamp::EPOCH);
        assert_eq!(decide("bob", Some("k"), &running), Decision::Wait);
        assert_eq!(decide("bob", None, &running), Decision::Wait);
        let executing = Decision::Tell(Reply::Conflict(Code::ActionExecuting));
        assert_eq!(decide("bob", Some("l"), &running), executing);
        assert_eq!(decide("cat", Some("k"), &running), executing, "a key is its person's");
        let [mut done, ..] = ended();
        let State::Succeeded { approvals, .. } = &mut done else { unreachable!() };
        *approvals = vec![approval("bob", Some("k"))];
        assert_eq!(decide("bob", Some("k"), &done), Decision::Tell(Reply::Replay));
        assert_eq!(decide("cat", Some("k"), &done), Decision::Tell(Reply::Conflict(Code::ActionDecided)));
    }

    #[test]
    fn who_waited_for_a_success_is_never_told_that_it_failed() {
        let waited = Confirmation { claim: claim(), seen: Seen::default(), repeats: false };
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
