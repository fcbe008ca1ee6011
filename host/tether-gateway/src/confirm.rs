//! Confirmations: the one way in which a write is executed.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Claim, Event, Proposal, State};
use tether_core::confirm::{Confirmation, Decision, Seen};
use tether_core::fault::{self, Point};
use tether_core::id::{ActionId, IdempotencyKey};
use tether_core::identity::{Caller, Role};
use tether_core::port::actions::Swap;
use tether_core::port::handlers::Outdated;
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::admit::require;
use crate::endings::Running;
use crate::outcome::{Outcome, Told, not_begun, store_problem};
use crate::said_yes::Yes;
use crate::settle::Tell;
use crate::sync::{oneshot, spawn};

/// Whoever waits has as much time as the attempt that it waits for. It waits so much
/// longer, because an attempt that uses up all of its time has to be settled yet.
const SETTLING: Duration = Duration::from_secs(2);

/// Whether somebody may decide about an action.
pub(crate) type May = fn(&Gateway, &Caller, &Action) -> Result<(), Problem>;

/// What lets somebody confirm.
#[derive(Clone, Copy)]
pub(crate) struct Leave {
    /// What the rules say.
    pub(crate) may: May,
    /// The role that it takes.
    pub(crate) role: Role,
}

/// What came of trying to approve or to claim an action.
enum Begun {
    /// It is approved, or this confirmation's attempt has ended (or could not be settled
    /// yet).
    Told(Outcome),
    /// Somebody was first; the action as it is now.
    Lost(Action),
}

impl Gateway {
    /// Confirms an action: claims it durably, then runs its handler once. Where it takes
    /// more persons, it is approved, and nothing runs.
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
        self.confirm_as_seen(caller, id, key, Seen { attempts: attempts_seen, approvals: None }).await
    }

    /// The same for a person who saw more of the action than its attempts.
    pub async fn confirm_as_seen(
        self: &Arc<Self>,
        caller: &Caller,
        id: ActionId,
        key: Option<IdempotencyKey>,
        seen: Seen,
    ) -> Result<Outcome, Problem> {
        require(caller, &[Role::Approver])?;
        let leave = Leave { may: Self::may_decide, role: Role::Approver };
        self.confirm_with(leave, caller, id, key, seen).await
    }

    /// The same for whoever has `leave`.
    pub(crate) async fn confirm_with(
        self: &Arc<Self>,
        Leave { may, role }: Leave,
        caller: &Caller,
        id: ActionId,
        key: Option<IdempotencyKey>,
        seen: Seen,
    ) -> Result<Outcome, Problem> {
        let said = self.clock.monotonic(); // before there is anything to wait for
        let mut action = self.find(caller, id).await?;
        may(self, caller, &action)?;
        let repeats = self.is_bound(caller, id, key.as_ref()).await?;
        if repeats {
            // It may have been bound since: seen as it was before that, the action would seem
            // to have forgotten the yes.
            action = self.find(caller, id).await?;
        }
        let confirmation = Confirmation { claim: Claim { by: caller.user.clone(), key }, seen, repeats };
        let yes = Yes { confirmation: confirmation.clone(), actor: caller.actor(), role, said };
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
                Decision::Approve | Decision::Claim => match self.begin(&yes, action).await? {
                    Begun::Told(outcome) => return Ok(outcome),
                    Begun::Lost(now) => action = now,
                },
                Decision::Wait => return self.wait(&confirmation, caller, action).await,
                Decision::Tell(reply) => return Outcome::replied(action, reply),
            }
        }
    }

    /// Whether the caller has confirmed this action with this key before. A key names one
    /// action, for good.
    async fn is_bound(
        &self,
        caller: &Caller,
        id: ActionId,
        key: Option<&IdempotencyKey>,
    ) -> Result<bool, Problem> {
        let Some(key) = key else { return Ok(false) };
        let holder = self.actions.confirmed_with(&caller.tenant, &caller.user, key).await;
        match holder.map_err(store_problem)? {
            Some(holder) if holder != id => Err(key_reused()),
            holder => Ok(holder.is_some()),
        }
    }

    /// Everything that must not be cut short runs in a task of its own: dropping a
    /// future is a cancel.
    async fn begin(self: &Arc<Self>, yes: &Yes, action: Action) -> Result<Begun, Problem> {
        let id = action.id;
        let (gateway, yes) = (Arc::clone(self), yes.clone());
        let running = self.running(id); // before there is a task that may have to wait
        let (tell, told) = oneshot::channel();
        let attempt = spawn(async move { gateway.begin_and_run(running, yes, action, tell).await });
        if let Ok(outcome) = told.await {
            return Ok(Begun::Told(outcome)); // the attempt's task writes it down
        }
        match attempt.await {
            Ok(begun) => begun,
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

    async fn begin_and_run(
        &self,
        running: Running,
        yes: Yes,
        action: Action,
        tell: Tell,
    ) -> Result<Begun, Problem> {
        // Whatever can be refused is refused before the claim uses up an attempt, and
        // before somebody approves what could not run.
        let turn = self.turns.take(&action.proposal.tenant, self.settings.queue_time, &*self.clock).await?;
        if let Some(outdated) = self.outdated(&action).await? {
            return Ok(Begun::Told(Outcome::outdated(action, outdated)));
        }
        let (said, now) = (yes.at(&*self.clock), self.clock.now());
        self.still_counts(&action.proposal.tenant, &yes, said).await?;
        // It waited: there may be no time left.
        let decision = yes.confirmation.decide(&action, now);
        let (claims, claim) = (decision == Decision::Claim, yes.confirmation.claim);
        let event = match decision {
            Decision::Claim => Event::Claimed { claim, at: now },
            Decision::Approve => Event::Approved { claim, at: said },
            _ => return Ok(Begun::Lost(action)),
        };
        let Ok(state) = action.next(event) else { return Ok(Begun::Lost(action)) };
        let detail = match &state {
            State::Executing { attempt, .. } => format!("confirmed; attempt {attempt} begins"),
            state => format!("approved; {} of {}", state.approvals().len(), action.proposal.people),
        };
        fault::reached(if claims { Point::BeforeClaim } else { Point::BeforeApprove });
        match self.swap(&action, state, action.ledger.clone(), Some(yes.actor), detail).await? {
            Swap::Done(claimed) if claims => {
                fault::reached(Point::Claimed);
                Ok(Begun::Told(self.run(claimed, running, turn, tell).await))
            }
            Swap::Done(approved) => {
                fault::reached(Point::Approved);
                tracing::info!(action = %approved.id, "approved");
                Ok(Begun::Told(Outcome::new(approved, Told::Approved)))
            }
            Swap::Stale(now) => Ok(Begun::Lost(now)),
            Swap::KeyTaken => Err(key_reused()),
            Swap::Gone => Err(crate::look::not_found()),
        }
    }

    /// Why the action cannot run any more, if it cannot.
    async fn outdated(&self, action: &Action) -> Result<Option<Outdated>, Problem> {
        let Proposal { tenant, binding, arguments, .. } = &action.proposal;
        if arguments.kept().is_none() {
            return Ok(Some(Outdated("its arguments are no longer kept".to_owned())));
        }
        match self.handlers.fits(tenant, binding).await {
            Ok(Ok(())) => {}
            Ok(Err(outdated)) => return Ok(Some(outdated)),
            Err(not_now) => {
                tracing::warn!(action = %action.id, error = %not_now, "not claimed");
                return Err(not_begun(&not_now));
            }
        }
        // Last, because that may have taken its time.
        let fell = self.whose_yes_fell(action).await?;
        let outdated = |gone| Outdated(format!("{gone} said yes, and may not decide about it any more"));
        Ok(fell.first().map(outdated))
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
