//! Attempts and their ends: run once, ask the records, write down what it came to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tether_core::action::{Action, Event};
use tether_core::fault::{self, Point};
use tether_core::id::ActionId;
use tether_core::invocation::Invocation;
use tether_core::port::actions::Swap;
use tether_core::settlement::{self, Ending};
use tokio::sync::Notify;

use crate::Gateway;
use crate::outcome::Outcome;

/// Which attempts run in this process, how those ended that are not settled yet,
/// and who waits for an end.
#[derive(Default)]
pub(crate) struct Endings(Mutex<Book>);

#[derive(Default)]
struct Book {
    /// Tasks that claim or run the action. More than one while they race for it.
    running: HashMap<ActionId, usize>,
    unsettled: HashMap<ActionId, Ending>,
    watchers: HashMap<ActionId, Weak<Notify>>,
}

/// An attempt's task lives; dropped when it ends, also by a panic.
pub(crate) struct Running {
    gateway: Arc<Gateway>,
    id: ActionId,
}

impl Endings {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn settled(&self, id: ActionId) {
        let mut book = self.book();
        book.unsettled.remove(&id);
        if let Some(watcher) = book.watchers.remove(&id).and_then(|watcher| watcher.upgrade()) {
            watcher.notify_waiters();
        }
    }

    /// How an attempt ended that nobody runs any more; none if somebody does.
    fn left_behind(&self, id: ActionId) -> Option<Ending> {
        let book = self.book();
        if book.running.contains_key(&id) {
            return None;
        }
        Some(book.unsettled.get(&id).cloned().unwrap_or(Ending::Interrupted))
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
    }
}

impl Gateway {
    /// From before the claim to after the end: as long as this lives, nobody else
    /// settles the action.
    pub(crate) fn running(self: &Arc<Self>, id: ActionId) -> Running {
        *self.endings.book().running.entry(id).or_default() += 1;
        Running { gateway: Arc::clone(self), id }
    }

    /// One attempt of a claimed action, from its start to its written end.
    pub(crate) async fn run(&self, claimed: Action, running: Running) -> Outcome {
        let proposal = &claimed.proposal;
        let invocation = Invocation {
            request_id: claimed.id.into(),
            tool: proposal.tool.clone(),
            tenant: proposal.tenant.clone(),
            user: proposal.proposer.clone(),
            arguments: proposal.arguments.clone(),
            attempt: claimed.state.attempts_used(),
            timeout: self.settings.retry.timeout(),
        };
        let report = self.handlers.write(&proposal.binding, invocation).await;
        let ending = match report.result {
            Ok(output) => Ending::Returned { output, began_main: report.began_main },
            Err(failure) => Ending::Failed(failure),
        };
        let settled = self.settle(claimed, ending).await;
        drop(running);
        Outcome::of_attempt(settled)
    }

    /// Settles what an attempt came to, as its records tell. Where they cannot be
    /// asked, or the end cannot be written, the action stays as it is, executing,
    /// and [`Gateway::sweep`] tries again.
    pub(crate) async fn settle(&self, action: Action, ending: Ending) -> Action {
        let id = action.id;
        match self.try_settle(&action, &ending).await {
            Ok(settled) => {
                self.endings.settled(id);
                settled
            }
            Err(reason) => {
                tracing::error!(action = %id, %reason, "the attempt cannot be settled yet");
                self.endings.book().unsettled.insert(id, ending);
                action
            }
        }
    }

    async fn try_settle(&self, action: &Action, ending: &Ending) -> Result<Action, String> {
        let proposal = &action.proposal;
        let records = self.handlers.records(&proposal.tenant, &proposal.binding, action.id.into()).await;
        let records = records.map_err(|unreachable| unreachable.to_string())?;
        let verdict = settlement::verdict(ending, &records);
        let ledger = settlement::ledger(&records);

        let attempt = action.state.attempts_used();
        let detail = crate::outcome::end_of_attempt(attempt, &verdict);
        let expires_after = self.settings.expires_after;
        let event = Event::Settled { verdict, at: self.clock.now(), expires_after };
        let state = action.next(event).map_err(|illegal| illegal.to_string())?;
        fault::reached(Point::BeforeFinish);
        match self.swap(action, state, ledger, None, detail).await.map_err(|problem| problem.to_string())? {
            Swap::Done(settled) => {
                fault::reached(Point::Finished);
                tracing::info!(action = %settled.id, attempt, status = settled.state.status().as_str(), "settled");
                Ok(settled)
            }
            Swap::Stale(settled) => Ok(settled),
            Swap::KeyTaken | Swap::Gone => Err("the action is not where it was".to_owned()),
        }
    }

    /// Settles every executing action that no task of this process runs: after a
    /// crash all of them, later those that could not be settled before.
    pub(crate) async fn settle_left_behind(&self, executing: Vec<Action>) -> (usize, usize) {
        let (mut settled, mut unsettled) = (0, 0);
        for action in executing {
            let Some(ending) = self.endings.left_behind(action.id) else { continue };
            let seen = action.revision;
            if self.settle(action, ending).await.revision == seen {
                unsettled += 1;
            } else {
                settled += 1;
            }
        }
        (settled, unsettled)
    }
}
