//! Attempts and their ends: run once, ask the records, write down what it came to.

use std::sync::Arc;

use tether_core::action::{Action, Event, Revision, State};
use tether_core::failure::{Cause, Failure};
use tether_core::fault::{self, Point};
use tether_core::invocation::Invocation;
use tether_core::ledger::Ledger;
use tether_core::port::actions::Swap;
use tether_core::port::databases::Unreachable;
use tether_core::settlement::{self, Ending};
use tracing::{Instrument as _, Span};

use crate::Gateway;
use crate::admit::Turn;
use crate::away::Away;
use crate::endings::{Ahead, Ended, Running, attempt_of};
use crate::journal::{AttemptJournal, CloseOnDrop};
use crate::outcome::Outcome;
use crate::sync::oneshot;

/// Where whoever confirmed waits for the end of the attempt.
pub(crate) type Tell = oneshot::Sender<Outcome>;

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

/// What the log names where it speaks of the attempt that `executing` is.
fn span_of(executing: &Action) -> Span {
    let (action, attempt) = attempt_of(executing);
    tracing::info_span!("attempt", %action, attempt, tool = %executing.proposal.tool)
}

impl Gateway {
    /// One attempt of a claimed action, from its start to its written end. Where the end
    /// need not be written to be known, `tell` tells it before.
    pub(crate) async fn run(&self, claimed: Action, running: Running, turn: Turn, tell: Tell) -> Outcome {
        let span = span_of(&claimed);
        async {
            let ended = self.execute(&claimed).await;
            drop(turn); // whoever is told of the end finds the place free
            let settled = self.settle(&claimed, &ended, Some(tell)).await;
            if settled.is_err() {
                self.endings.leave(&claimed, ended);
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
    async fn settle(&self, action: &Action, ended: &Ended, tell: Option<Tell>) -> Result<Action, NotSettled> {
        let settled = self.try_settle(action, ended, tell).await;
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

    async fn try_settle(
        &self,
        action: &Action,
        ended: &Ended,
        tell: Option<Tell>,
    ) -> Result<Action, NotSettled> {
        let Ended { ending, noted } = ended;
        let proposal = &action.proposal;
        fault::reached(Point::BeforeRecords);
        let records = self.handlers.records(&proposal.tenant, &proposal.binding, action.id.into()).await;
        let records = records.map_err(NotSettled::Away)?;
        let verdict = settlement::verdict(ending, &records);
        let is_known = settlement::is_found_again(&verdict, &records, noted, &action.ledger);
        let ledger = settlement::ledger(&records, noted);

        let attempt = action.state.attempts_used();
        let detail = crate::outcome::end_of_attempt(attempt, &verdict);
        let expires_after = self.settings.rules.of(&proposal.tool).expires_after;
        let event = Event::Settled { verdict, at: self.clock.now(), expires_after };
        let state = action.next(event).map_err(|illegal| NotSettled::Failed(illegal.to_string()))?;
        let told = tell.filter(|_| is_known).map(|tell| self.tell(tell, action, &state, &ledger));
        fault::reached(Point::BeforeFinish);
        let swap = self.swap(action, state, ledger, None, detail).await;
        drop(told);
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

    /// Tells whoever confirmed how it ended, before that is written: it is known for good
    /// already. Until the answer of this is dropped, whoever looks waits.
    fn tell(&self, tell: Tell, executing: &Action, state: &State, ledger: &Ledger) -> Ahead<'_> {
        let ended = Action {
            id: executing.id,
            revision: Revision(executing.revision.0 + 1),
            proposal: executing.proposal.clone(),
            state: state.clone(),
            ledger: ledger.clone(),
        };
        let ahead = self.endings.ahead(&ended);
        // Whoever confirmed may be gone.
        let _ = tell.send(Outcome::of_attempt(ended));
        fault::reached(Point::EndTold);
        ahead
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
            self.settle(&now, &ended, None).instrument(span_of(&now)).await?;
        }
        Ok(())
    }
}
