//! Calls: a read is run, and repeated while that is safe; a write is proposed.

use std::sync::Arc;

use tether_core::action::Action;
use tether_core::allowance::{Allowance, Watcher};
use tether_core::failure::Failure;
use tether_core::id::{IdempotencyKey, RequestId, ToolName};
use tether_core::identity::Caller;
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::problem::Problem;
use tether_core::retry::RetryPolicy;

use crate::Gateway;
use crate::admit::{AdmittedCall, AdmittedRead};

/// What a call came to.
#[derive(Debug)]
pub enum Called {
    /// A read's answer.
    Answer(Answer),
    /// A write, now waiting for a person.
    Proposed(Box<Action>),
}

/// What a read answered.
#[derive(Debug)]
pub struct Answer {
    /// The call.
    pub request_id: RequestId,
    /// The tool.
    pub tool: ToolName,
    /// The output, to the letter.
    pub result: JsonText,
    /// 1 and the retries that were spent.
    pub attempts: u32,
}

impl Gateway {
    /// Calls a tool. `key` makes a proposal repeatable; a read needs none.
    ///
    /// Dropping it cancels a read. A proposal may still be kept: repeated with
    /// the same key, it gives the same action.
    pub async fn call(
        self: &Arc<Self>,
        caller: &Caller,
        tool: &str,
        arguments: JsonText,
        key: Option<IdempotencyKey>,
    ) -> Result<Called, Problem> {
        self.call_watched(caller, tool, arguments, key, None).await
    }

    /// The same; `watcher` is told of a read's attempts after the first.
    pub async fn call_watched(
        self: &Arc<Self>,
        caller: &Caller,
        tool: &str,
        arguments: JsonText,
        key: Option<IdempotencyKey>,
        watcher: Option<Watcher>,
    ) -> Result<Called, Problem> {
        match self.admit(caller, tool, arguments)? {
            AdmittedCall::Read(read) => self.read(caller, read, watcher).await.map(Called::Answer),
            AdmittedCall::Write(write) => {
                self.propose(caller, write, key).await.map(Box::new).map(Called::Proposed)
            }
        }
    }

    /// The only loop around a handler; it takes a read.
    async fn read(
        &self,
        caller: &Caller,
        read: AdmittedRead,
        watcher: Option<Watcher>,
    ) -> Result<Answer, Problem> {
        let AdmittedRead(admitted) = read;
        let _turn = self.turns.take(&caller.tenant, self.settings.queue_time, &*self.clock).await?;

        let request_id = crate::fresh_request_id();
        let tool = admitted.offer.tool.name.clone();
        let allowance = Arc::new(self.fresh_allowance().watched_by(watcher));
        loop {
            let invocation = Invocation {
                request_id,
                tool: tool.clone(),
                tenant: caller.tenant.clone(),
                user: caller.user.clone(),
                arguments: admitted.arguments.clone(),
                attempt: allowance.attempts(),
                timeout: allowance.timeout(),
            };
            let answer =
                self.handlers.read(&admitted.offer.binding, invocation, Arc::clone(&allowance)).await;
            let attempts = allowance.attempts();
            let failure = match answer {
                Ok(result) => return Ok(Answer { request_id, tool, result, attempts }),
                Err(failure) => failure,
            };
            let Some(pause) = allowance.next(&failure) else {
                return Err(told(failure, request_id, attempts));
            };
            tracing::info!(%request_id, %tool, cause = failure.cause.as_str(), ?pause, "read is retried");
            allowance.sleep(pause).await;
        }
    }

    /// The budget and the time of a call that begins now.
    pub(crate) fn allowance(&self) -> Arc<Allowance> {
        Arc::new(self.fresh_allowance())
    }

    fn fresh_allowance(&self) -> Allowance {
        Allowance::new(self.settings.retry, Arc::clone(&self.clock), crate::chance)
    }

    /// How often and how long reads are tried.
    pub fn policy(&self) -> RetryPolicy {
        self.settings.retry
    }
}

/// A failure, as the caller of a read or the proposer of a write is told.
pub(crate) fn told(failure: Failure, request_id: RequestId, attempts: u32) -> Problem {
    Problem {
        request_id: Some(request_id),
        attempts: Some(attempts),
        retry_after: failure.retry_after,
        handler_code: failure.handler_code,
        ..Problem::new(failure.cause.code(), failure.message)
    }
}
