//! Declining: a person's no.

use tether_core::action::{Event, Status};
use tether_core::fault::{self, Point};
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Role};
use tether_core::port::actions::Swap;
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::admit::require;
use crate::confirm::May;
use crate::outcome::{Outcome, Told};

/// The longest reason, in characters.
const LONGEST_REASON: usize = 1_000;

impl Gateway {
    /// Declines a pending action. Declined before: the same answer. Too late: a
    /// conflict that says what happened first.
    pub async fn decline(
        &self,
        caller: &Caller,
        id: ActionId,
        reason: Option<String>,
    ) -> Result<Outcome, Problem> {
        require(caller, &[Role::Approver])?;
        self.decline_if(Self::may_decide, caller, id, reason).await
    }

    /// The same for whoever passes `may`.
    pub(crate) async fn decline_if(
        &self,
        may: May,
        caller: &Caller,
        id: ActionId,
        reason: Option<String>,
    ) -> Result<Outcome, Problem> {
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
            return Err(Problem::malformed(format!("a reason has at most {LONGEST_REASON} characters")));
        }
        let mut action = self.load(caller, id).await?;
        may(self, caller, &action)?;
        loop {
            let code = match action.state.status() {
                Status::Pending => {
                    let (by, at) = (caller.user.clone(), self.clock.now());
                    let event = Event::Declined { by, reason: reason.clone(), at };
                    let state = action.next(event).map_err(|illegal| {
                        tracing::error!(error = %illegal, "a pending action cannot be declined");
                        Problem::new(
                            Code::Internal,
                            "the action cannot be declined; the host's log has the cause",
                        )
                    })?;
                    fault::reached(Point::BeforeDecline);
                    match self
                        .swap(&action, state, action.ledger.clone(), Some(caller.actor()), "declined".into())
                        .await?
                    {
                        Swap::Done(declined) => {
                            fault::reached(Point::Declined);
                            tracing::info!(action = %id, "declined");
                            return Ok(Outcome::new(declined, Told::Declined));
                        }
                        Swap::Stale(now) => {
                            action = now;
                            continue;
                        }
                        Swap::KeyTaken | Swap::Gone => return Err(crate::look::not_found()),
                    }
                }
                Status::Declined => return Ok(Outcome::new(action, Told::Declined)),
                Status::Executing => Code::ActionExecuting,
                Status::Expired => Code::ActionExpired,
                Status::Succeeded | Status::Failed => Code::ActionDecided,
            };
            return Ok(Outcome::conflict(action, code));
        }
    }
}
