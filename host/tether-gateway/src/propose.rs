//! Proposals: a write becomes an action that waits for a person.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Arguments, Preview, Proposal, State};
use tether_core::failure::{Cause, Failure};
use tether_core::fault::{self, Point};
use tether_core::id::IdempotencyKey;
use tether_core::identity::Caller;
use tether_core::invocation::Invocation;
use tether_core::port::actions::{NewAction, Proposed};
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::admit::{Admitted, AdmittedWrite};
use crate::outcome::store_problem;

impl Gateway {
    /// Makes an action of an admitted write, or finds the one that the same
    /// proposal made before. It is durable when this returns.
    pub(crate) async fn propose(
        self: &Arc<Self>,
        caller: &Caller,
        write: AdmittedWrite,
        key: Option<IdempotencyKey>,
    ) -> Result<Action, Problem> {
        let AdmittedWrite(admitted) = write;
        if let Some(key) = &key {
            let before = self.actions.proposed_with(&caller.tenant, &caller.user, key).await;
            if let Some(before) = before.map_err(store_problem)? {
                return self.same(caller, before, &admitted).await;
            }
        }

        let turn = self.turns.take(&caller.tenant, self.settings.queue_time, &*self.clock).await?;
        let preview = self.preview(caller, &admitted).await?;
        drop(turn);

        let now = self.clock.now();
        let rule = self.settings.rules.of(&admitted.offer.tool.name);
        let action = NewAction {
            id: crate::fresh_action_id(),
            proposal: Proposal {
                tenant: caller.tenant.clone(),
                proposer: caller.user.clone(),
                tool: admitted.offer.tool.name.clone(),
                arguments: Arguments::Kept(admitted.arguments.clone()),
                binding: admitted.offer.binding.clone(),
                preview,
                created_at: now,
                max_attempts: self.settings.max_attempts,
                people: rule.people,
            },
            expires_at: now.after(rule.expires_after),
            key,
            channel: Some(caller.channel),
            max_open: rule.max_open,
        };
        if rule.max_open.is_some() {
            // Those of which an end was told are open no more.
            self.endings.all_written().await;
        }
        fault::reached(Point::BeforePropose);
        let proposed = self.actions.propose(action).await.map_err(store_problem)?;
        fault::reached(Point::Proposed);
        match proposed {
            Proposed::New(action) => {
                tracing::info!(action = %action.id, tool = %action.proposal.tool, "proposed");
                Ok(action)
            }
            Proposed::TooMany => Err(too_many(rule.max_open.unwrap_or_default())),
            // Somebody with the same key was faster by a moment.
            Proposed::Before(action) => self.same(caller, action, &admitted).await,
        }
    }

    /// The action of an earlier proposal with the same key, if it is the same proposal: not
    /// as it was before what was told of it.
    async fn same(&self, caller: &Caller, action: Action, admitted: &Admitted) -> Result<Action, Problem> {
        let proposal = &action.proposal;
        if proposal.tool != admitted.offer.tool.name
            || proposal.arguments.fingerprint() != admitted.arguments.fingerprint()
        {
            return Err(Problem::new(
                Code::IdempotencyKeyReused,
                "this idempotency key was used for a proposal with another tool or other arguments; use a fresh key",
            ));
        }
        match action.state {
            // Its end may have been told, and even written, since it was looked up.
            State::Executing { .. } => self.find(caller, action.id).await,
            _ => Ok(action),
        }
    }

    /// The handler's sentence. An error that it *tells* refuses the proposal; one
    /// that it runs into leaves the arguments to speak for themselves.
    async fn preview(&self, caller: &Caller, admitted: &Admitted) -> Result<Preview, Problem> {
        let request_id = crate::fresh_request_id();
        let allowance = self.allowance();
        let invocation = Invocation {
            request_id,
            tool: admitted.offer.tool.name.clone(),
            tenant: caller.tenant.clone(),
            user: caller.user.clone(),
            arguments: admitted.arguments.clone(),
            attempt: 1,
            timeout: allowance.timeout(),
        };
        match self.handlers.preview(&admitted.offer.binding, invocation, Arc::clone(&allowance)).await {
            Ok(Some(text)) => Ok(Preview::Text(text)),
            Ok(None) => Ok(Preview::None),
            Err(failure) if is_told(&failure) => {
                Err(crate::call::told(failure, request_id, allowance.attempts()))
            }
            Err(failure) => {
                tracing::warn!(%request_id, tool = %admitted.offer.tool.name, cause = failure.cause.as_str(), "no preview");
                Ok(Preview::Unavailable(failure.message))
            }
        }
    }
}

/// Whether the handler said so itself. The host may know a better cause of what was
/// told; the handler's code stays.
fn is_told(failure: &Failure) -> bool {
    failure.handler_code.is_some()
        || matches!(
            failure.cause,
            Cause::InvalidArguments | Cause::Refused | Cause::Transient | Cause::Failed
        )
}

/// How soon it is worth proposing again where too many proposals wait.
const CROWDED: Duration = Duration::from_secs(60);

fn too_many(open: u32) -> Problem {
    let detail = format!(
        "{open} of your proposals of this tool are open already, as many as may be; wait until one was decided"
    );
    Problem { retry_after: Some(CROWDED), ..Problem::new(Code::Overloaded, detail) }
}
