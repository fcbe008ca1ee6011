//! What a store of actions in memory holds, and the rules of its writes.

use std::collections::{HashMap, HashSet};

use tether_core::action::{Action, Revision, State, Status};
use tether_core::clock::Timestamp;
use tether_core::id::{ActionId, IdempotencyKey, TenantId, UserId};
use tether_core::identity::Actor;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, HistoryEvent, Left, Mark, NewAction, Part, Proposed, Seen, Swap};

pub(super) type Key = (TenantId, UserId, IdempotencyKey);

#[derive(Default)]
pub(super) struct Tables {
    pub(super) actions: Vec<Action>,
    pub(super) proposal_keys: HashMap<Key, ActionId>,
    pub(super) confirm_keys: HashMap<Key, ActionId>,
    pub(super) history: Vec<(ActionId, HistoryEvent)>,
    /// Of erased outputs, from when on their records are to be emptied.
    pub(super) records_due: HashMap<ActionId, Timestamp>,
    /// How often it was asked which components are needed.
    pub(super) components_asked: usize,
    /// Notes of what is about to be sent that were written.
    pub(super) notes: usize,
    /// Another program holds the file.
    pub(super) busy: bool,
    /// Writes that fail before the store works again.
    pub(super) failures: usize,
    /// Actions of which nothing can be written.
    pub(super) broken: HashSet<ActionId>,
    /// Moves of them that somebody wanted.
    pub(super) refused: usize,
}

impl Tables {
    pub(super) fn find(&mut self, id: ActionId) -> Option<&mut Action> {
        self.actions.iter_mut().find(|action| action.id == id)
    }

    pub(super) fn propose(&mut self, new: NewAction) -> Proposed {
        let key = new.key.map(|key| (new.proposal.tenant.clone(), new.proposal.proposer.clone(), key));
        if let Some(id) = key.as_ref().and_then(|key| self.proposal_keys.get(key).copied()) {
            return Proposed::Before(self.find(id).unwrap().clone());
        }
        let is_open = |action: &&Action| {
            let (one, other) = (&action.proposal, &new.proposal);
            let same = one.tenant == other.tenant && one.proposer == other.proposer && one.tool == other.tool;
            same && match action.state {
                State::Pending { expires_at, .. } => expires_at > other.created_at,
                State::Executing { .. } => true,
                _ => false,
            }
        };
        if new.max_open.is_some_and(|most| self.actions.iter().filter(is_open).count() >= most as usize) {
            return Proposed::TooMany;
        }
        if let Some(key) = key {
            self.proposal_keys.insert(key, new.id);
        }
        let action = Action {
            id: new.id,
            revision: Revision(1),
            proposal: new.proposal,
            state: State::Pending {
                attempts_used: 0,
                expires_at: new.expires_at,
                last_failure: None,
                approvals: Vec::new(),
            },
            ledger: Ledger::default(),
        };
        let event = HistoryEvent {
            at: action.proposal.created_at,
            actor: Some(Actor { user: action.proposal.proposer.clone(), channel: new.channel }),
            from: None,
            to: Status::Pending,
            attempt: 0,
            detail: "proposed".to_owned(),
        };
        self.history.push((action.id, event));
        self.actions.push(action.clone());
        Proposed::New(action)
    }

    pub(super) fn swap(&mut self, change: Change) -> Swap {
        let Some(action) = self.find(change.seen.id).map(|action| action.clone()) else { return Swap::Gone };
        if action.revision != change.seen.revision {
            return Swap::Stale(action);
        }
        let approvals = change.seen.state.approvals().len();
        let confirmation = match &change.state {
            State::Executing { claim, .. } => Some(claim),
            State::Pending { approvals: now, .. } if now.len() > approvals => {
                now.last().map(|approval| &approval.claim)
            }
            _ => None,
        };
        if let Some(claim) = confirmation
            && let Some(key) = &claim.key
        {
            let holder = (change.seen.proposal.tenant.clone(), claim.by.clone(), key.clone());
            if *self.confirm_keys.entry(holder).or_insert(change.seen.id) != change.seen.id {
                return Swap::KeyTaken;
            }
        }
        let event = HistoryEvent {
            at: change.at,
            actor: change.actor,
            from: Some(action.state.status()),
            to: change.state.status(),
            attempt: change.state.attempts_used(),
            detail: change.detail,
        };
        self.history.push((change.seen.id, event));
        let row = self.find(change.seen.id).unwrap();
        row.state = change.state;
        row.ledger = change.ledger;
        row.revision = Revision(row.revision.0 + 1);
        Swap::Done(row.clone())
    }
}

impl Tables {
    /// Erases what `text` does of those that were found and are not broken.
    pub(super) fn erase(
        &mut self,
        found: Part,
        now: Timestamp,
        detail: &str,
        mut text: impl FnMut(&mut Action),
    ) -> Seen {
        let Part { actions, mut seen } = found;
        for Action { id, .. } in actions {
            if self.broken.contains(&id) {
                seen.left.push(Left { id: id.to_string(), why: "it is broken".to_owned() });
                continue;
            }
            let row = self.find(id).unwrap();
            text(row);
            let event = erased(row, now, detail);
            self.history.push((id, event));
        }
        seen
    }
}

/// Those to which `at` gives a time, by that and in the order in which they were proposed.
pub(super) fn part(
    actions: &[Action],
    at: impl Fn(&Action) -> Option<Timestamp>,
    after: Option<Mark>,
    limit: usize,
) -> Part {
    let mut found: Vec<_> = (1..)
        .zip(actions)
        .filter_map(|(number, action)| at(action).map(|at| (at, number, action)))
        .filter(|(at, number, _)| after.is_none_or(|mark| (*at, *number) > (mark.at, mark.number)))
        .collect();
    found.sort_by_key(|(at, number, _)| (*at, *number));
    found.truncate(limit);
    let last = found.last().map(|(at, number, _)| Mark { at: *at, number: *number });
    let seen = Seen { count: found.len(), last, left: Vec::new() };
    Part { actions: found.into_iter().map(|(_, _, action)| action.clone()).collect(), seen }
}

/// Something of an action that has ended is erased: the event that says so.
fn erased(action: &mut Action, at: Timestamp, detail: &str) -> HistoryEvent {
    action.revision = Revision(action.revision.0 + 1);
    let status = action.state.status();
    let (attempt, detail) = (action.state.attempts_used(), detail.to_owned());
    HistoryEvent { at, actor: None, from: Some(status), to: status, attempt, detail }
}

pub(super) fn ended_at(state: &State) -> Option<Timestamp> {
    match state {
        State::Pending { .. } | State::Executing { .. } => None,
        State::Succeeded { at, .. }
        | State::Failed { at, .. }
        | State::Declined { at, .. }
        | State::Expired { at, .. } => Some(*at),
    }
}
