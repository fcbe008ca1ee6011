//! Actions in memory, with the rules that every store keeps.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tether_core::action::{Action, Arguments, Output, Preview, Revision, State, Status};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::grant::Binding;
use tether_core::id::{ActionId, IdempotencyKey, TenantId, UserId};
use tether_core::identity::Actor;
use tether_core::ledger::Ledger;
use tether_core::port::BoxFuture;
use tether_core::port::actions::{
    ActionStore, Change, Filter, HistoryEvent, NewAction, Page, Proposed, StoreError, Swap,
};
use tokio::sync::Notify;

use super::Fuse;

type Key = (TenantId, UserId, IdempotencyKey);

#[derive(Default)]
struct Tables {
    actions: Vec<Action>,
    proposal_keys: HashMap<Key, ActionId>,
    confirm_keys: HashMap<Key, ActionId>,
    history: Vec<(ActionId, HistoryEvent)>,
    /// Of erased outputs, from when on their records are to be emptied.
    records_due: HashMap<ActionId, Timestamp>,
    /// How often it was asked which components are needed.
    components_asked: usize,
    /// Notes of what is about to be sent that were written.
    notes: usize,
    /// Another program holds the file.
    busy: bool,
    /// Writes that fail before the store works again.
    failures: usize,
}

pub(crate) struct MemoryActions {
    tables: Mutex<Tables>,
    fuse: Arc<Fuse>,
    /// The list of what is executing is made, and then waits for the test.
    pub(crate) holds_lists: AtomicBool,
    pub(crate) listed: Notify,
    pub(crate) go_on: Notify,
}

impl MemoryActions {
    pub(crate) fn new(fuse: Arc<Fuse>) -> Self {
        Self {
            tables: Mutex::default(),
            fuse,
            holds_lists: AtomicBool::default(),
            listed: Notify::new(),
            go_on: Notify::new(),
        }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap()
    }

    pub(crate) fn peek(&self, id: ActionId) -> Action {
        self.tables().actions.iter().find(|action| action.id == id).unwrap().clone()
    }

    /// Every action, in the order in which they were proposed.
    pub(crate) fn all(&self) -> Vec<ActionId> {
        self.tables().actions.iter().map(|action| action.id).collect()
    }

    pub(crate) fn told(&self, id: ActionId) -> Vec<HistoryEvent> {
        let tables = self.tables();
        tables.history.iter().filter(|(of, _)| *of == id).map(|(_, event)| event.clone()).collect()
    }

    /// The action that this person's key confirmed.
    pub(crate) fn key_names(&self, person: &UserId, key: &IdempotencyKey) -> Option<ActionId> {
        let mut keys = self.tables().confirm_keys.clone().into_iter();
        keys.find_map(|((_, by, held), id)| (by == *person && held == *key).then_some(id))
    }

    pub(crate) fn count(&self) -> usize {
        self.tables().actions.len()
    }

    /// The next `count` writes find the disk full.
    pub(crate) fn fail_next(&self, count: usize) {
        self.tables().failures = count;
    }

    /// Another program holds the file, or does not any more.
    pub(crate) fn set_busy(&self, busy: bool) {
        self.tables().busy = busy;
    }

    pub(crate) fn notes(&self) -> usize {
        self.tables().notes
    }

    pub(crate) fn components_asked(&self) -> usize {
        self.tables().components_asked
    }

    /// A durable write: it can be cut off before and after it happens.
    fn write<'a, T: Send + 'a>(
        &'a self,
        change: impl FnOnce(&mut Tables) -> T + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            self.fuse.step().await;
            // A disk takes its time: whatever else happens comes between.
            tokio::task::yield_now().await;
            let answer = {
                let mut tables = self.tables();
                if tables.busy {
                    return Err(StoreError::Busy);
                }
                if tables.failures > 0 {
                    tables.failures -= 1;
                    return Err(StoreError::Full);
                }
                change(&mut tables)
            };
            self.fuse.step().await;
            Ok(answer)
        })
    }

    fn read<'a, T: Send + 'a>(
        &'a self,
        look: impl FnOnce(&Tables) -> T,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let answer = look(&self.tables());
        Box::pin(async move { Ok(answer) })
    }

    /// A list that may be an old one when it is answered.
    fn list_of<'a>(
        &'a self,
        look: impl FnOnce(&Tables) -> Vec<Action>,
    ) -> BoxFuture<'a, Result<Vec<Action>, StoreError>> {
        let answer = look(&self.tables());
        Box::pin(async move {
            self.fuse.pause().await;
            Ok(answer)
        })
    }
}

impl Tables {
    fn find(&mut self, id: ActionId) -> Option<&mut Action> {
        self.actions.iter_mut().find(|action| action.id == id)
    }

    fn swap(&mut self, change: Change) -> Swap {
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

/// Something of an action that has ended is erased: the event that says so.
fn erased(action: &mut Action, at: Timestamp, detail: &str) -> HistoryEvent {
    action.revision = Revision(action.revision.0 + 1);
    let status = action.state.status();
    let (attempt, detail) = (action.state.attempts_used(), detail.to_owned());
    HistoryEvent { at, actor: None, from: Some(status), to: status, attempt, detail }
}

fn ended_at(state: &State) -> Option<Timestamp> {
    match state {
        State::Pending { .. } | State::Executing { .. } => None,
        State::Succeeded { at, .. }
        | State::Failed { at, .. }
        | State::Declined { at, .. }
        | State::Expired { at, .. } => Some(*at),
    }
}

impl ActionStore for MemoryActions {
    fn propose(&self, new: NewAction) -> BoxFuture<'_, Result<Proposed, StoreError>> {
        self.write(move |tables| {
            let key = new.key.map(|key| (new.proposal.tenant.clone(), new.proposal.proposer.clone(), key));
            if let Some(id) = key.as_ref().and_then(|key| tables.proposal_keys.get(key).copied()) {
                return Proposed::Before(tables.find(id).unwrap().clone());
            }
            let is_open = |action: &&Action| {
                let (one, other) = (&action.proposal, &new.proposal);
                let same =
                    one.tenant == other.tenant && one.proposer == other.proposer && one.tool == other.tool;
                same && match action.state {
                    State::Pending { expires_at, .. } => expires_at > other.created_at,
                    State::Executing { .. } => true,
                    _ => false,
                }
            };
            if new.max_open.is_some_and(|most| tables.actions.iter().filter(is_open).count() >= most as usize)
            {
                return Proposed::TooMany;
            }
            if let Some(key) = key {
                tables.proposal_keys.insert(key, new.id);
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
            tables.history.push((action.id, event));
            tables.actions.push(action.clone());
            Proposed::New(action)
        })
    }

    fn proposed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        let key = (tenant.clone(), user.clone(), key.clone());
        let id = self.tables().proposal_keys.get(&key).copied();
        self.read(|tables| tables.actions.iter().find(|action| Some(action.id) == id).cloned())
    }

    fn confirmed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<ActionId>, StoreError>> {
        let key = (tenant.clone(), user.clone(), key.clone());
        self.read(|tables| tables.confirm_keys.get(&key).copied())
    }

    fn load<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        self.read(|tables| {
            let mine = |action: &&Action| action.id == id && action.proposal.tenant == *tenant;
            tables.actions.iter().find(mine).cloned()
        })
    }

    fn list<'a>(
        &'a self,
        tenant: &'a TenantId,
        filter: Filter,
        limit: usize,
        cursor: Option<String>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        if cursor.is_some() {
            return Box::pin(async { Err(StoreError::UnknownCursor) });
        }
        self.read(|tables| {
            let listed = tables.actions.iter().rev().filter(|action| {
                action.proposal.tenant == *tenant
                    && filter.status.is_none_or(|status| action.state.status() == status)
                    && filter.proposer.as_ref().is_none_or(|user| action.proposal.proposer == *user)
            });
            Page { actions: listed.take(limit).cloned().collect(), next: None }
        })
    }

    fn history<'a>(
        &'a self,
        _tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Vec<HistoryEvent>, StoreError>> {
        let events = self.told(id);
        self.read(|_| events)
    }

    fn swap(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        self.write(move |tables| tables.swap(change))
    }

    fn note<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
        attempt: u32,
        ledger: Ledger,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.write(move |tables| {
            let Some(action) = tables.find(id) else { return false };
            let executes = matches!(action.state, State::Executing { attempt: now, .. } if now == attempt);
            if executes && action.proposal.tenant == *tenant {
                action.ledger = ledger;
                tables.notes += 1;
                return true;
            }
            false
        })
    }

    fn executing(&self) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        let list = self.list_of(|tables| {
            let executing = |action: &&Action| action.state.status() == Status::Executing;
            tables.actions.iter().filter(executing).cloned().collect()
        });
        Box::pin(async move {
            if self.holds_lists.load(Ordering::SeqCst) {
                self.listed.notify_one();
                self.go_on.notified().await;
            }
            list.await
        })
    }

    fn overdue(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        self.list_of(|tables| {
            let overdue = |action: &&Action| matches!(action.state, State::Pending { expires_at, .. } if expires_at <= now);
            tables.actions.iter().filter(overdue).take(limit).cloned().collect()
        })
    }

    fn needed_components(&self) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>> {
        self.tables().components_asked += 1;
        self.read(|tables| {
            let component = |action: &Action| match &action.proposal.binding {
                Binding::Component(component) => Some(component.digest),
                Binding::Endpoint(_) => None,
            };
            tables.actions.iter().filter_map(component).collect()
        })
    }

    fn erase_outputs(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        self.write(move |tables| {
            let kept = |action: &&mut Action| {
                matches!(&action.state, State::Succeeded { at, output: Output::Kept(_), .. } if *at < before)
            };
            for action in tables.actions.iter_mut().filter(kept).take(limit) {
                if let State::Succeeded { output, .. } = &mut action.state {
                    *output = Output::Erased;
                }
                tables.history.push((action.id, erased(action, now, "its result was erased")));
                tables.records_due.insert(action.id, before);
            }
        })
    }

    fn erase_arguments(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        self.write(move |tables| {
            let kept = |action: &&mut Action| {
                action.proposal.arguments.kept().is_some()
                    && ended_at(&action.state).is_some_and(|at| at < before)
            };
            for action in tables.actions.iter_mut().filter(kept).take(limit) {
                action.proposal.arguments = Arguments::Erased(action.proposal.arguments.fingerprint());
                action.proposal.preview = Preview::Erased;
                tables.history.push((action.id, erased(action, now, "its arguments were erased")));
            }
        })
    }

    fn with_records(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        self.list_of(|tables| {
            let due = |action: &&Action| tables.records_due.get(&action.id).is_some_and(|due| *due <= now);
            tables.actions.iter().filter(due).take(limit).cloned().collect()
        })
    }

    fn set_records_due<'a>(
        &'a self,
        _tenant: &'a TenantId,
        id: ActionId,
        due: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.write(move |tables| match due {
            Some(due) => drop(tables.records_due.insert(id, due)),
            None => drop(tables.records_due.remove(&id)),
        })
    }
}
