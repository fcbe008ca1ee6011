//! Which attempts run in this process, and how they ended.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, PoisonError, Weak};

use tether_core::action::Action;
use tether_core::id::ActionId;
use tether_core::ledger::Ledger;
use tether_core::settlement::Ending;

use crate::Gateway;
use crate::sync::{Mutex, MutexGuard, Notify};

/// Which attempts run in this process, how those ended that are not settled yet,
/// and who waits for an end.
#[derive(Default)]
pub(crate) struct Endings {
    book: Mutex<Book>,
    /// Told whenever no attempt runs any more.
    idle: Notify,
}

#[derive(Default)]
struct Book {
    /// Tasks that claim or run the action. More than one while they race for it.
    running: HashMap<ActionId, usize>,
    /// Ends that were told and are not known to be written, however long that takes.
    told: HashMap<ActionId, Told>,
    /// Attempts, by their number, whose tasks could not settle them.
    unsettled: HashMap<(ActionId, u32), Ended>,
    watchers: HashMap<ActionId, Weak<Notify>>,
}

/// An end that was told before it is written.
struct Told {
    action: Action,
    /// For those who wait for the writing; none where it failed, until somebody settles it.
    writing: Option<Arc<Notify>>,
}

/// What is known of an attempt that has ended, before the records were asked.
#[derive(Clone)]
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    /// What it sent, and what those before it did.
    pub(crate) noted: Ledger,
}

/// An attempt's task lives; dropped when it ends, also by a panic.
pub(crate) struct Running {
    gateway: Arc<Gateway>,
    id: ActionId,
}

/// The end of this action was told, and is being written; dropped when it is, or when it
/// cannot be.
pub(crate) struct Ahead<'a> {
    endings: &'a Endings,
    id: ActionId,
}

pub(crate) fn attempt_of(executing: &Action) -> (ActionId, u32) {
    (executing.id, executing.state.attempts_used())
}

impl Endings {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be told when an attempt of the action has been settled.
    pub(crate) fn watch(&self, id: ActionId) -> Arc<Notify> {
        let mut book = self.book();
        if let Some(notify) = book.watchers.get(&id).and_then(Weak::upgrade) {
            return notify;
        }
        let notify = Arc::new(Notify::new());
        book.watchers.retain(|_, watcher| watcher.strong_count() > 0);
        book.watchers.insert(id, Arc::downgrade(&notify));
        notify
    }

    /// The attempt that `executing` is could not be settled.
    pub(crate) fn leave(&self, executing: &Action, ended: Ended) {
        self.book().unsettled.insert(attempt_of(executing), ended);
    }

    /// The attempt that `executing` is has been settled, by whomever.
    pub(crate) fn settled(&self, executing: &Action) {
        let mut book = self.book();
        book.unsettled.remove(&attempt_of(executing));
        book.told.remove(&executing.id);
        if let Some(watcher) = book.watchers.remove(&executing.id).and_then(|watcher| watcher.upgrade()) {
            watcher.notify_waiters();
        }
    }

    pub(crate) fn runs(&self, id: ActionId) -> bool {
        self.book().running.contains_key(&id)
    }

    /// How the attempt of an executing action ended. Where this process did not see
    /// its end, what it sent is in doubt.
    pub(crate) fn left_behind(&self, action: &Action) -> Ended {
        let interrupted = || Ended { ending: Ending::Interrupted, noted: action.ledger.clone() };
        self.book().unsettled.get(&attempt_of(action)).cloned().unwrap_or_else(interrupted)
    }

    /// The action as it has `ended` is about to be told before that is written.
    pub(crate) fn ahead(&self, ended: &Action) -> Ahead<'_> {
        let told = Told { action: ended.clone(), writing: Some(Arc::new(Notify::new())) };
        self.book().told.insert(ended.id, told);
        Ahead { endings: self, id: ended.id }
    }

    /// Waits until what was told of the action's end is written, or cannot be now. Answers
    /// with the action as it was told, where it was not known to be written before: whoever
    /// finds it executing then knows better.
    pub(crate) async fn written(&self, id: ActionId) -> Option<Action> {
        let (told, writing) = {
            let book = self.book();
            let told = book.told.get(&id)?;
            (told.action.clone(), told.writing.clone())
        };
        if let Some(writing) = writing {
            let mut written = pin!(writing.notified());
            written.as_mut().enable(); // before the look, so that it is not missed
            if self.book().is_written_now(id) {
                written.await;
            }
        }
        Some(told)
    }

    /// The same of every action whose end was told by now.
    pub(crate) async fn all_written(&self) {
        let told: Vec<_> = self.book().told.keys().copied().collect();
        for id in told {
            self.written(id).await;
        }
    }
}

impl Book {
    fn is_written_now(&self, id: ActionId) -> bool {
        self.told.get(&id).is_some_and(|told| told.writing.is_some())
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        let writing = self.endings.book().told.get_mut(&self.id).and_then(|told| told.writing.take());
        if let Some(writing) = writing {
            writing.notify_waiters();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut book = self.gateway.endings.book();
        if let Some(count) = book.running.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                book.running.remove(&self.id);
            }
        }
        if book.running.is_empty() {
            self.gateway.endings.idle.notify_waiters();
        }
    }
}

impl Gateway {
    /// From before the claim to after the end: as long as this lives, nobody else
    /// settles the action.
    pub(crate) fn running(self: &Arc<Self>, id: ActionId) -> Running {
        *self.endings.book().running.entry(id).or_default() += 1;
        Running { gateway: Arc::clone(self), id }
    }

    /// Waits until no attempt runs, nor is about to be claimed, in this process. What
    /// could not be settled does not run.
    pub async fn idle(&self) {
        loop {
            let mut idle = pin!(self.endings.idle.notified());
            idle.as_mut().enable(); // before the look, so that no end is missed
            if self.endings.book().running.is_empty() {
                return;
            }
            idle.await;
        }
    }
}
