//! Attempts and their ends: run once, ask the records, write down what it came to.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use tether_core::action::{Action, Event};
use tether_core::failure::{Cause, Failure};
use tether_core::fault::{self, Point};
use tether_core::id::ActionId;
use tether_core::invocation::Invocation;
use tether_core::ledger::Ledger;
use tether_core::port::actions::Swap;
use tether_core::port::databases::Unreachable;
use tether_core::settlement::{self, Ending};
use tracing::{Instrument as _, Span};

use crate::Gateway;
use crate::away::Away;
use crate::journal::{AttemptJournal, CloseOnDrop};
use crate::outcome::Outcome;
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
    /// Attempts, by their number, whose tasks could not settle them.
    unsettled: HashMap<(ActionId, u32), Ended>,
    watchers: HashMap<ActionId, Weak<Notify>>,
}

/// What is known of an attempt that has ended, before the records were asked.
#[derive(Clone)]
pub(crate) struct Ended {
    ending: Ending,
    /// What it sent, and what those before it did.
    noted: Ledger,
}

/// Why an attempt is not settled yet.
#[derive(Debug, thiserror::Error)]
enum NotSettled {
    /// Its databases cannot be asked, and nor can those of others that are the same.
    #[error(transparent)]
    Away(Unreachable),
    /// Anything else: of this action alone.
    #[error("{0}")]
    Failed(String),
}

/// An attempt's task lives; dropped when it ends, also by a panic.
pub(crate) struct Running {
    gateway: Arc<Gateway>,
    id: ActionId,
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

    /// The attempt that `executing` is has been settled, by whomever.
    fn settled(&self, executing: &Action) {
        let mut book = self.book();
        book.unsettled.remove(&attempt_of(executing));
        if let Some(watcher) = book.watchers.remove(&executing.id).and_then(|watcher| watcher.upgrade()) {
            watcher.notify_waiters();
        }
    }

    fn runs(&self, id: ActionId) -> bool {
        self.book().running.contains_key(&id)
    }

    /// How the attempt of an executing action ended. Where this process did not see
    /// its end, what it sent is in doubt.
    fn left_behind(&self, action: &Action) -> Ended {
        let interrupted = || Ended { ending: Ending::Interrupted, noted: action.ledger.clone() };
        self.book().unsettled.get(&attempt_of(action)).cloned().unwrap_or_else(interrupted)
    }
}

/// What the log names where it speaks of the attempt that `executing` is.
fn span_of(executing: &Action) -> Span {
    let (action, attempt) = attempt_of(executing);
    tracing::info_span!("attempt", %action, attempt, tool = %executing.proposal.tool)
}

fn attempt_of(executing: &Action) -> (ActionId, u32) {
    (executing.id, executing.state.attempts_used())
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
            let idle = self.endings.idle.notified();
            tokio::pin!(idle);
            idle.as_mut().enable(); // before the look, so that no end is missed
            if self.endings.book().running.is_empty() {
                return;
            }
            idle.await;
        }
    }

    /// One attempt of a claimed action, from its start to its written end.
    pub(crate) async fn run(&self, claimed: Action, running: Running) -> Outcome {
        let span = span_of(&claimed);
        async {
            let ended = self.execute(&claimed).await;
            let settled = self.settle(&claimed, &ended).await;
            if settled.is_err() {
                self.endings.book().unsettled.insert(attempt_of(&claimed), ended);
            }
            drop(running); // not before whoever settles it knows how it ended
            Outcome::of_attempt(settled.unwrap_or(claimed))
        }
        .instrument(span)
        .await
    }

    async fn execute(&self, claimed: &Action) -> Ended {
        let proposal = &claimed.proposal;
        let Some(arguments) = proposal.arguments.kept().cloned() else {
            // They are kept until it has ended.
            let failure = Failure::new(Cause::Failed, "its arguments are no longer kept");
            return Ended { ending: Ending::Failed(failure), noted: claimed.ledger.clone() };
        };
        let invocation = Invocation {
            request_id: claimed.id.into(),
            tool: proposal.tool.clone(),
            tenant: proposal.tenant.clone(),
            user: proposal.proposer.clone(),
            arguments,
            attempt: claimed.state.attempts_used(),
            timeout: self.settings.retry.timeout(),
        };
        let journal = AttemptJournal::new(claimed, Arc::clone(&self.actions), Arc::clone(&self.clock));
        let _open = CloseOnDrop(Arc::clone(&journal));
        let report = self.handlers.write(&proposal.binding, invocation, journal.clone()).await;
        let ending = match report.result {
            Ok(output) => Ending::Returned { output, began_main: report.began_main },
            Err(failure) => Ending::Failed(failure),
        };
        Ended { ending, noted: journal.close() }
    }

    /// Settles what an attempt came to, as its records tell. Where they cannot be
    /// asked, or the end cannot be written, the action stays as it is, executing,
    /// and [`Gateway::sweep`] tries again.
    async fn settle(&self, action: &Action, ended: &Ended) -> Result<Action, NotSettled> {
        let settled = self.try_settle(action, ended).await;
        match &settled {
            Ok(_) => {
                self.endings.settled(action);
                fault::reached(Point::WaitersTold);
            }
            Err(reason) => {
                tracing::error!(%reason, "the attempt cannot be settled yet");
            }
        }
        settled
    }

    async fn try_settle(&self, action: &Action, ended: &Ended) -> Result<Action, NotSettled> {
        let Ended { ending, noted } = ended;
        let proposal = &action.proposal;
        fault::reached(Point::BeforeRecords);
        let records = self.handlers.records(&proposal.tenant, &proposal.binding, action.id.into()).await;
        let records = records.map_err(NotSettled::Away)?;
        let verdict = settlement::verdict(ending, &records);
        let ledger = settlement::ledger(&records, noted);

        let attempt = action.state.attempts_used();
        let detail = crate::outcome::end_of_attempt(attempt, &verdict);
        let expires_after = self.settings.rules.of(&proposal.tool).expires_after;
        let event = Event::Settled { verdict, at: self.clock.now(), expires_after };
        let state = action.next(event).map_err(|illegal| NotSettled::Failed(illegal.to_string()))?;
        fault::reached(Point::BeforeFinish);
        let swap = self.swap(action, state, ledger, None, detail).await;
        match swap.map_err(|problem| NotSettled::Failed(problem.to_string()))? {
            Swap::Done(settled) => {
                fault::reached(Point::Finished);
                tracing::info!(status = settled.state.status().as_str(), "settled");
                Ok(settled)
            }
            Swap::Stale(settled) => Ok(settled),
            Swap::KeyTaken | Swap::Gone => {
                Err(NotSettled::Failed("the action is not where it was".to_owned()))
            }
        }
    }

    /// Settles every executing action that no task of this process runs: after a
    /// crash all of them, later those that could not be settled before.
    pub(crate) async fn settle_left_behind(&self, executing: Vec<Action>) -> (usize, usize) {
        let (mut settled, mut unsettled) = (0, 0);
        let mut away = Away::default();
        for action in executing {
            if self.endings.runs(action.id) {
                continue;
            }
            if away.holds(&action) {
                unsettled += 1;
                continue;
            }
            match self.settle_one(&action).await {
                Ok(()) => settled += 1,
                Err(why) => {
                    unsettled += 1;
                    if matches!(why, NotSettled::Away(_)) {
                        away.add(&action);
                    }
                }
            }
        }
        (settled, unsettled)
    }

    async fn settle_one(&self, seen: &Action) -> Result<(), NotSettled> {
        // Read again, now that nobody runs it: it may have noted a request since.
        let now = self.actions.load(&seen.proposal.tenant, seen.id).await;
        let now = now.map_err(|error| NotSettled::Failed(error.to_string()))?;
        let now = now.ok_or_else(|| NotSettled::Failed("the action is gone".to_owned()))?;
        if now.revision == seen.revision {
            let ended = self.endings.left_behind(&now);
            self.settle(&now, &ended).instrument(span_of(&now)).await?;
        }
        Ok(())
    }
}
