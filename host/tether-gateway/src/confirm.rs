//! Confirmations: the one way in which a write is executed.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Claim, Event, State};
use tether_core::confirm::{Confirmation, Decision};
use tether_core::fault::{self, Point};
use tether_core::id::{ActionId, IdempotencyKey};
use tether_core::identity::{Caller, Role};
use tether_core::port::actions::Swap;
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::admit::require;
use crate::outcome::{Outcome, not_begun, store_problem};
use crate::settle::Running;
use crate::sync::spawn;

/// Whoever waits has as much time as the attempt that it waits for. It waits so much
/// longer, because an attempt that uses up all of its time has to be settled yet.
const SETTLING: Duration = Duration::from_secs(2);

/// What came of trying to claim an action.
enum Claimed {
    /// This confirmation's attempt has ended (or could not be settled yet).
    Ran(Outcome),
    /// Somebody was first; the action as it is now.
    Lost(Action),
}

impl Gateway {
    /// Confirms an action: claims it durably, then runs its handler once.
    ///
    /// `key` makes the confirmation repeatable; `attempts_seen` is what the person
    /// saw used, and where it differs, nothing runs. What was claimed runs to its
    /// end even if this is dropped.
    pub async fn confirm(
        self: &Arc<Self>,
        caller: &Caller,
        id: ActionId,
        key: Option<IdempotencyKey>,
        attempts_seen: Option<u32>,
    ) -> Result<Outcome, Problem> {
        require(caller, &[Role::Approver])?;
        self.check_key(caller, id, key.as_ref()).await?;
        let confirmation = Confirmation { claim: Claim { by: caller.user.clone(), key }, attempts_seen };

        let mut action = self.find(caller, id).await?;
        let used = action.state.attempts_used();
        loop {
            let decision = confirmation.decide(&action, self.clock.now());
            // An attempt that was faster has failed already. Its person knows that, this
            // one does not: it must look again.
            if is_pending(&action) && action.state.attempts_used() > used && decision != Decision::Expire {
                return Ok(Outcome::conflict(action, Code::ExecutionFailedRetryable));
            }
            match decision {
                Decision::Expire => action = self.expire(action).await?,
                Decision::Claim => match self.claim(&confirmation, action).await? {
                    Claimed::Ran(outcome) => return Ok(outcome),
                    Claimed::Lost(now) => action = now,
                },
                Decision::Wait => return self.wait(&confirmation, caller, action).await,
                Decision::Tell(reply) => return Outcome::replied(action, reply),
            }
        }
    }

    /// A key names one action, for good.
    async fn check_key(
        &self,
        caller: &Caller,
        id: ActionId,
        key: Option<&IdempotencyKey>,
    ) -> Result<(), Problem> {
        let Some(key) = key else { return Ok(()) };
        let holder = self.actions.confirmed_with(&caller.tenant, &caller.user, key).await;
        match holder.map_err(store_problem)? {
            Some(holder) if holder != id => Err(key_reused()),
            _ => Ok(()),
        }
    }

    /// Everything that must not be cut short runs in a task of its own: dropping a
    /// future is a cancel.
    async fn claim(
        self: &Arc<Self>,
        confirmation: &Confirmation,
        action: Action,
    ) -> Result<Claimed, Problem> {
        let id = action.id;
        let (gateway, claim) = (Arc::clone(self), confirmation.claim.clone());
        let running = self.running(id); // before there is a task that may have to wait
        match spawn(async move { gateway.claim_and_run(running, claim, action).await }).await {
            Ok(claimed) => claimed,
            Err(died) => {
                // The claim may be written; `sweep` settles what is left behind.
                tracing::error!(action = %id, error = %died, "the task of an attempt died");
                Err(Problem::new(
                    Code::Internal,
                    "the host failed in the middle of the attempt; look at the action to see what it came to",
                ))
            }
        }
    }

    async fn claim_and_run(
        &self,
        running: Running,
        claim: Claim,
        action: Action,
    ) -> Result<Claimed, Problem> {
        // Whatever can be refused is refused before the claim uses up an attempt.
        let _turn = self.turns.take(&action.proposal.tenant, self.settings.queue_time, &*self.clock).await?;
        let fits = self.handlers.fits(&action.proposal.tenant, &action.proposal.binding).await;
        match fits {
            Ok(Ok(())) => {}
            Ok(Err(outdated)) => return Ok(Claimed::Ran(Outcome::outdated(action, outdated))),
            Err(not_now) => {
                tracing::warn!(action = %action.id, error = %not_now, "not claimed");
                return Err(not_begun(&not_now));
            }
        }

        let at = self.clock.now();
        let by = claim.by.clone();
        let Ok(state) = action.next(Event::Claimed { claim, at }) else {
            return Ok(Claimed::Lost(action));
        };
        let detail = format!("confirmed; attempt {} begins", state.attempts_used());
        fault::reached(Point::BeforeClaim);
        match self.swap(&action, state, action.ledger.clone(), Some(by), detail).await? {
            Swap::Done(claimed) => {
                fault::reached(Point::Claimed);
                Ok(Claimed::Ran(self.run(claimed, running).await))
            }
            Swap::Stale(now) => Ok(Claimed::Lost(now)),
            Swap::KeyTaken => Err(key_reused()),
            Swap::Gone => Err(crate::look::not_found()),
        }
    }

    /// Waits for the attempt that runs, and never claims after that.
    async fn wait(
        &self,
        confirmation: &Confirmation,
        caller: &Caller,
        action: Action,
    ) -> Result<Outcome, Problem> {
        let attempt = action.state.attempts_used();
        let patience = self.clock.sleep(self.settings.retry.timeout() + SETTLING);
        tokio::pin!(patience);
        loop {
            let ended = self.endings.watch(action.id);
            let ended = ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable(); // before the look, so that no ending is missed
            let now = self.load(caller, action.id).await?;
            if let Some(reply) = confirmation.decide_after_wait(&now, attempt) {
                return Outcome::replied(now, reply);
            }
            tokio::select! {
                biased;
                () = ended => {}
                () = &mut patience => return Ok(Outcome::conflict(now, Code::ActionExecuting)),
            }
        }
    }
}

fn is_pending(action: &Action) -> bool {
    matches!(action.state, State::Pending { .. })
}

fn key_reused() -> Problem {
    Problem::new(
        Code::IdempotencyKeyReused,
        "this idempotency key confirmed another action; use a fresh key for each action",
    )
}
