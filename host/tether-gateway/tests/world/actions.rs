//! Actions in memory, with the rules that every store keeps.

mod tables;

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
    ActionStore, Change, Filter, HistoryEvent, Mark, NewAction, Page, Part, Proposed, Seen, StoreError, Swap,
};
use tokio::sync::Notify;

use self::tables::{Tables, ended_at, part};
use super::Fuse;

pub(crate) struct MemoryActions {
    tables: Mutex<Tables>,
    fuse: Arc<Fuse>,
    /// Holds the list of what is executing, once it is made.
    pub(crate) lists: Hold,
    /// Holds what says that an action has ended, before it is written.
    pub(crate) ends: Hold,
}

/// A place at which the store waits for the test, where the test wants that.
#[derive(Default)]
pub(crate) struct Hold {
    holds: AtomicBool,
    came: Notify,
    go_on: Notify,
}

impl Hold {
    /// From now on whoever comes waits.
    pub(crate) fn hold(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    /// Waits until somebody has come.
    pub(crate) async fn came(&self) {
        self.came.notified().await;
    }

    /// Lets the one who has come go on.
    pub(crate) fn release(&self) {
        self.go_on.notify_one();
    }

    async fn pass(&self) {
        if self.holds.load(Ordering::SeqCst) {
            self.came.notify_one();
            self.go_on.notified().await;
        }
    }
}

impl MemoryActions {
    pub(crate) fn new(fuse: Arc<Fuse>) -> Self {
        Self { tables: Mutex::default(), fuse, lists: Hold::default(), ends: Hold::default() }
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

    /// Nothing more of these actions can be written.
    pub(crate) fn break_all(&self, ids: &[ActionId]) {
        self.tables().broken.extend(ids);
    }

    /// How often somebody tried to.
    pub(crate) fn refused(&self) -> usize {
        self.tables().refused
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
    fn list_of<'a, T: Send + 'a>(
        &'a self,
        look: impl FnOnce(&Tables) -> T,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let answer = look(&self.tables());
        Box::pin(async move {
            self.fuse.pause().await;
            Ok(answer)
        })
    }
}

impl ActionStore for MemoryActions {
    fn propose(&self, new: NewAction) -> BoxFuture<'_, Result<Proposed, StoreError>> {
        self.write(move |tables| tables.propose(new))
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
        Box::pin(async move {
            if ended_at(&change.state).is_some() {
                self.ends.pass().await;
            }
            let id = change.seen.id;
            self.write(|tables| match tables.broken.contains(&id) {
                true => {
                    tables.refused += 1;
                    Err(StoreError::Failed("it is broken".into()))
                }
                false => Ok(tables.swap(change)),
            })
            .await?
        })
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
            self.lists.pass().await;
            list.await
        })
    }

    fn overdue(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        self.list_of(|tables| {
            let overdue = |action: &Action| match action.state {
                State::Pending { expires_at, .. } => Some(expires_at).filter(|at| *at <= now),
                _ => None,
            };
            part(&tables.actions, overdue, after, limit)
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
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        self.write(move |tables| {
            let kept = |action: &Action| match &action.state {
                State::Succeeded { at, output: Output::Kept(_), .. } => Some(*at).filter(|at| *at < before),
                _ => None,
            };
            let (found, mut gone) = (part(&tables.actions, kept, after, limit), Vec::new());
            let seen = tables.erase(found, now, "its result was erased", |action| {
                if let State::Succeeded { output, .. } = &mut action.state {
                    *output = Output::Erased;
                }
                gone.push((action.id, before));
            });
            tables.records_due.extend(gone);
            seen
        })
    }

    fn erase_arguments(
        &self,
        before: Timestamp,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        self.write(move |tables| {
            let kept = |action: &Action| {
                let ended = ended_at(&action.state).filter(|at| *at < before);
                ended.filter(|_| action.proposal.arguments.kept().is_some())
            };
            let found = part(&tables.actions, kept, after, limit);
            tables.erase(found, now, "its arguments were erased", |action| {
                action.proposal.arguments = Arguments::Erased(action.proposal.arguments.fingerprint());
                action.proposal.preview = Preview::Erased;
            })
        })
    }

    fn with_records(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        self.list_of(|tables| {
            let due = |action: &Action| tables.records_due.get(&action.id).copied().filter(|due| *due <= now);
            part(&tables.actions, due, after, limit)
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
