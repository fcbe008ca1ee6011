//! Actions in memory: one step each, before and after which others may go first.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use tether_core::action::{Action, Arguments, Claim, Preview, Proposal, Revision, State, Status};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, IdempotencyKey, RequestId, TenantId, UserId};
use tether_core::ledger::Ledger;
use tether_core::port::BoxFuture;
use tether_core::port::actions::{
    ActionStore, Change, Filter, HistoryEvent, Mark, NewAction, Page, Part, Proposed, Seen, StoreError, Swap,
};
use tether_interleavings::meet;

use crate::world::{binding, json};

#[derive(Default)]
pub(crate) struct Actions(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    actions: Vec<Action>,
    keys: HashMap<(UserId, IdempotencyKey), ActionId>,
    /// Attempts that have left their handler, one way or the other.
    ended: HashSet<(RequestId, u32)>,
}

impl Actions {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap()
    }

    /// Adds a pending action.
    pub(crate) fn add(&self) -> ActionId {
        self.add_of(1)
    }

    /// One each of whose attempts takes so many persons.
    pub(crate) fn add_of(&self, people: u32) -> ActionId {
        let mut tables = self.tables();
        let id = ActionId::from_random([u8::try_from(tables.actions.len()).unwrap(); 16]);
        let proposal = Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent".parse().unwrap(),
            tool: "write".parse().unwrap(),
            arguments: Arguments::Kept(json("{}")),
            binding: binding(),
            preview: Preview::None,
            created_at: Timestamp::EPOCH,
            max_attempts: 3,
            people,
        };
        let expires_at = Timestamp::from_millis(i64::MAX);
        let state =
            State::Pending { attempts_used: 0, expires_at, last_failure: None, approvals: Vec::new() };
        tables.actions.push(Action { id, revision: Revision(1), proposal, state, ledger: Ledger::default() });
        id
    }

    pub(crate) fn peek(&self, id: ActionId) -> Action {
        self.tables().find(id).clone()
    }

    /// The attempt has left its handler.
    pub(crate) fn ended(&self, id: RequestId, attempt: u32) {
        self.tables().ended.insert((id, attempt));
    }

    fn step<'a, T: Send + 'a>(
        &'a self,
        step: impl FnOnce(&mut Tables) -> T + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            meet();
            let answer = step(&mut self.tables());
            meet();
            Ok(answer)
        })
    }
}

impl Tables {
    fn find(&mut self, id: ActionId) -> &mut Action {
        self.actions.iter_mut().find(|action| action.id == id).unwrap()
    }

    fn swap(&mut self, change: Change) -> Swap {
        let now = self.find(change.seen.id).clone();
        if now.revision != change.seen.revision {
            return Swap::Stale(now);
        }
        if let State::Executing { attempt, .. } = now.state {
            let ended = self.ended.contains(&(change.seen.id.into(), attempt));
            assert!(ended, "settled while its task lives");
        }
        if let Some(claim) = confirmation(&change)
            && let Some(key) = &claim.key
            && *self.keys.entry((claim.by.clone(), key.clone())).or_insert(change.seen.id) != change.seen.id
        {
            return Swap::KeyTaken;
        }
        let action = self.find(change.seen.id);
        action.state = change.state;
        action.ledger = change.ledger;
        action.revision.0 += 1;
        Swap::Done(action.clone())
    }
}

/// The person's yes that a change writes down.
fn confirmation(change: &Change) -> Option<&Claim> {
    let before = change.seen.state.approvals().len();
    match &change.state {
        State::Executing { claim, .. } => Some(claim),
        state => state.approvals().get(before).map(|approval| &approval.claim),
    }
}

impl ActionStore for Actions {
    fn load<'a>(
        &'a self,
        _tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        self.step(move |tables| Some(tables.find(id).clone()))
    }

    fn confirmed_with<'a>(
        &'a self,
        _tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<ActionId>, StoreError>> {
        self.step(|tables| tables.keys.get(&(user.clone(), key.clone())).copied())
    }

    fn swap(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        self.step(|tables| tables.swap(change))
    }

    fn executing(&self) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        self.step(|tables| {
            let executing = |action: &&Action| action.state.status() == Status::Executing;
            tables.actions.iter().filter(executing).cloned().collect()
        })
    }

    fn list<'a>(
        &'a self,
        _tenant: &'a TenantId,
        filter: Filter,
        _limit: usize,
        _cursor: Option<String>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        self.step(move |tables| {
            let wanted =
                |action: &&Action| filter.status.is_none_or(|status| action.state.status() == status);
            Page { actions: tables.actions.iter().filter(wanted).cloned().collect(), next: None }
        })
    }

    // What follows is about other things than who is first: nothing is proposed, overdue
    // or old.

    fn propose(&self, _action: NewAction) -> BoxFuture<'_, Result<Proposed, StoreError>> {
        unreachable!("nothing is proposed")
    }

    fn proposed_with<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _user: &'a UserId,
        _key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        unreachable!("nothing is proposed")
    }

    fn history<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _id: ActionId,
    ) -> BoxFuture<'a, Result<Vec<HistoryEvent>, StoreError>> {
        unreachable!("nobody looks at it")
    }

    fn note<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _id: ActionId,
        _attempt: u32,
        _ledger: Ledger,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        unreachable!("nothing is sent")
    }

    fn overdue(
        &self,
        _now: Timestamp,
        _after: Option<Mark>,
        _limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        Box::pin(async { Ok(Part::default()) })
    }

    fn needed_components(&self) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn erase_outputs(
        &self,
        _before: Timestamp,
        _now: Timestamp,
        _after: Option<Mark>,
        _limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        Box::pin(async { Ok(Seen::default()) })
    }

    fn erase_arguments(
        &self,
        _before: Timestamp,
        _now: Timestamp,
        _after: Option<Mark>,
        _limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        Box::pin(async { Ok(Seen::default()) })
    }

    fn with_records(
        &self,
        _now: Timestamp,
        _after: Option<Mark>,
        _limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        Box::pin(async { Ok(Part::default()) })
    }

    fn set_records_due<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _id: ActionId,
        _due: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("nothing is old")
    }
}
