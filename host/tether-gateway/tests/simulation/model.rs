//! The reference model: who may claim, and who may be told what. It knows only what was
//! asked, and the history; none of the gateway's decisions.

use std::collections::{HashMap, HashSet};

use tether_core::action::{Action, Claim, Output, State, Status};
use tether_core::id::{ActionId, IdempotencyKey, UserId};
use tether_core::port::actions::HistoryEvent;
use tether_core::problem::{Code, Problem};
use tether_gateway::{Outcome, Told};

/// A confirmation, as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) action: ActionId,
    pub(crate) person: UserId,
    pub(crate) key: Option<IdempotencyKey>,
    /// The attempts that the person says to have seen.
    pub(crate) seen: Option<u32>,
    /// Where the action stood.
    pub(crate) stood: (Status, u32),
    /// How much history it had.
    pub(crate) told: usize,
}

impl Asked {
    /// The same person, and the same action.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        (self.action, &self.person) == (other.action, &other.person)
    }
}

/// What may be, by what was asked so far.
#[derive(Default)]
pub(crate) struct Model {
    /// Who may have claimed which attempt.
    claims: HashSet<(ActionId, UserId, u32)>,
    /// What was proposed with a key, and the action that it became.
    proposals: HashMap<IdempotencyKey, (&'static str, Option<ActionId>)>,
}

impl Model {
    /// A person confirms what takes so many. `holder` is the action that the key has claimed
    /// by now.
    pub(crate) fn confirms(&mut self, asked: &Asked, holder: Option<ActionId>, people: u32) {
        let (status, used) = asked.stood;
        // Who waited for an attempt, or did not see that one failed, never claims.
        let may = status == Status::Pending
            && asked.seen.is_none_or(|seen| seen == used)
            && holder.is_none_or(|holder| holder == asked.action)
            && !is_repetition(asked, holder, people);
        if may {
            self.claims.insert((asked.action, asked.person.clone(), used + 1));
        }
    }

    /// Every claim was somebody's to make, and every approval.
    pub(crate) fn check_claims(&self, id: ActionId, history: &[HistoryEvent]) -> Result<(), String> {
        for event in history.iter().filter(|event| event.to == Status::Executing || is_approval(event)) {
            let Some(person) = by(event).cloned() else { continue };
            let attempt = event.attempt + u32::from(is_approval(event));
            if !self.claims.contains(&(id, person.clone(), attempt)) {
                let what = "of an action that was not pending so, or that they had not seen so";
                return Err(format!("{person} claimed or approved attempt {attempt} {what}"));
            }
        }
        Ok(())
    }

    pub(crate) fn proposes(&mut self, key: Option<&IdempotencyKey>, arguments: &'static str) {
        if let Some(key) = key {
            self.proposals.entry(key.clone()).or_insert((arguments, None));
        }
    }

    /// What the proposer is told.
    pub(crate) fn check_proposed(
        &mut self,
        key: Option<&IdempotencyKey>,
        arguments: &'static str,
        told: &Result<Action, Problem>,
        kept: &[Action],
    ) -> Result<(), String> {
        let action = match told {
            Ok(action) => action,
            Err(problem) => {
                return match problem.code {
                    Code::Refused | Code::Overloaded | Code::StorageFull => Ok(()),
                    // Another proposal had the key; whichever came first is kept.
                    Code::IdempotencyKeyReused if key.is_some() => Ok(()),
                    code => Err(format!("a proposal was told {code}")),
                };
            }
        };
        if !kept.iter().any(|kept| kept.id == action.id) {
            return Err("a proposal was answered that is not kept".to_owned());
        }
        // Once they are erased, nobody can tell.
        if action.proposal.arguments.kept().is_some_and(|kept| kept.as_str() != arguments) {
            return Err("a proposal was answered with another one".to_owned());
        }
        let Some(key) = key else { return Ok(()) };
        let known = self.proposals.entry(key.clone()).or_insert((arguments, None));
        match known.1 {
            Some(id) if id != action.id => Err("a key proposed two actions".to_owned()),
            _ => {
                *known = (arguments, Some(action.id));
                Ok(())
            }
        }
    }
}

/// What takes several was confirmed by the same person with the same key, who does not say
/// to have seen what came of it: nothing new.
fn is_repetition(asked: &Asked, holder: Option<ActionId>, people: u32) -> bool {
    people > 1 && holder == Some(asked.action) && asked.seen.is_none()
}

/// Somebody said yes, and it takes others as well.
fn is_approval(event: &HistoryEvent) -> bool {
    (event.from, event.to) == (Some(Status::Pending), Status::Pending)
}

/// Who did it.
fn by(event: &HistoryEvent) -> Option<&UserId> {
    event.actor.as_ref().map(|actor| &actor.user)
}

/// Whether a person may be told this, the action being as it is `now`.
pub(crate) fn check_told(
    asked: &Asked,
    told: &Result<Outcome, Problem>,
    now: &Action,
    history: &[HistoryEvent],
    holder: Option<ActionId>,
    ever: Ever,
) -> Result<(), String> {
    let since = &history[asked.told..];
    let mine = history.iter().any(|event| {
        (event.to == Status::Executing || is_approval(event)) && by(event) == Some(&asked.person)
    });
    let status = now.state.status();
    let right = match told {
        Ok(outcome) => {
            let attempt = outcome.action.state.attempts_used();
            let claimed = history.iter().any(|event| {
                event.to == Status::Executing && event.attempt == attempt && by(event) == Some(&asked.person)
            });
            let ended = |to: Status| {
                history.iter().any(|event| {
                    event.from == Some(Status::Executing) && event.to == to && event.attempt == attempt
                })
            };
            // Of a record that is there, the end may be told before it is written.
            let ends = ever.recorded && status == Status::Executing;
            match outcome.told {
                Told::Approved => {
                    history.iter().any(|event| is_approval(event) && by(event) == Some(&asked.person))
                }
                Told::Succeeded => claimed && (ended(Status::Succeeded) || ends),
                Told::FailedRetryable => claimed && ended(Status::Pending),
                Told::Replayed => (status == Status::Succeeded || ends) && may_replay(asked, now),
                Told::Failed => status == Status::Failed,
                Told::Declined => status == Status::Declined,
                Told::Conflict(code) => match code {
                    Code::ActionExecuting => {
                        asked.stood.0 == Status::Executing
                            || since.iter().any(|event| event.to == Status::Executing)
                    }
                    Code::ActionChanged => asked.seen.is_some_and(|seen| {
                        asked.stood.1 != seen || since.iter().any(|event| event.attempt != seen)
                    }),
                    Code::ActionDecided => status == Status::Succeeded || ends,
                    Code::ActionDeclined => status == Status::Declined,
                    Code::ActionExpired => status == Status::Expired,
                    Code::ActionOutdated => ever.outdated,
                    Code::ExecutionFailedRetryable => {
                        let failed = |event: &HistoryEvent| {
                            event.from == Some(Status::Executing) && event.to != Status::Succeeded
                        };
                        let again = is_repetition(asked, holder, now.proposal.people);
                        if again { history.iter().any(failed) } else { since.iter().any(failed) }
                    }
                    Code::ExecutionFailed | Code::ExecutionAttemptsExhausted => status == Status::Failed,
                    _ => false,
                },
            }
        }
        Err(problem) => match problem.code {
            Code::KeyExpired => matches!(now.state, State::Succeeded { output: Output::Erased, .. }),
            Code::IdempotencyKeyReused => holder.is_some_and(|holder| holder != asked.action),
            // "Nothing was attempted."
            Code::Overloaded | Code::StorageFull | Code::UpstreamUnavailable => ever.asked_again || !mine,
            Code::Internal => ever.panicked,
            _ => false,
        },
    };
    if right {
        return Ok(());
    }
    let told = told.as_ref().map(|outcome| outcome.told).map_err(|problem| problem.code);
    Err(format!("{asked:?} was told {told:?}, and the action is {status:?}: {history:#?}"))
}

/// Who replays has the winner's key or none, or waited for an attempt.
fn may_replay(asked: &Asked, now: &Action) -> bool {
    let (State::Succeeded { claim, approvals, .. } | State::Executing { claim, approvals, .. }) = &now.state
    else {
        return false;
    };
    let mine = |claim: &Claim| claim.by == asked.person && claim.key == asked.key;
    asked.key.is_none()
        || mine(claim)
        || approvals.iter().any(|approval| mine(&approval.claim))
        || asked.stood.0 == Status::Executing
}

/// What happened at some time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ever {
    pub(crate) panicked: bool,
    pub(crate) outdated: bool,
    /// Its main record was written.
    pub(crate) recorded: bool,
    /// The same person confirmed it more than once.
    pub(crate) asked_again: bool,
}
