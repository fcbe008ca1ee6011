//! A call: a read that ends with its caller, a proposal that nothing cuts short.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult};
use rmcp::service::{RequestContext, RoleServer};
use tether_core::action::Action;
use tether_core::allowance::Watcher;
use tether_core::problem::Problem;
use tether_gateway::{Answer, Called};

use super::exchange::Exchange;
use super::progress::{Progress, telling};
use super::server::Server;
use super::tools::Does;
use super::{action, built_in, content, problem};
use crate::http::unpanicked;

/// What is sent to a caller that has gone away: nobody reads it.
fn abandoned() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

impl Server {
    /// The result of a call of the tool `name`.
    pub(super) async fn called(
        &self,
        name: &str,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.tools().get(name).map(|listed| listed.does) {
            Some(Does::TellsOfActions) => {
                let call = built_in::call(self.gateway(), exchange, self.pages());
                unpanicked(call).await.unwrap_or_else(|| Err(problem::internal()))
            }
            Some(Does::Proposes) => match self.propose(name, exchange).await {
                Ok(action) => return self.proposed(*action, exchange, context).await,
                Err(wrong) => Err(wrong),
            },
            // Of a tool that is not there, the gateway says so.
            does => {
                let promises = does == Some(Does::Reads { promises: true });
                let (progress, watcher) =
                    Progress::of(context, self.gateway().policy().max_attempts()).unzip();
                let read = unpanicked(self.read(name, exchange, watcher));
                let read = tokio::select! {
                    biased;
                    // The loser is dropped, and with it the handler and what it sends.
                    () = context.ct.cancelled() => return Err(abandoned()),
                    () = exchange.is_abandoned() => return Err(abandoned()),
                    read = telling(progress, read) => read,
                };
                let read = read.unwrap_or_else(|| Err(problem::internal()));
                read.map(|answer| self.answered(&answer, promises, exchange, context))
            }
        };
        result.or_else(problem::told).map(CallToolResponse::from)
    }

    /// An action, as whoever asks is told of it.
    pub(super) fn told_of(&self, action: &Action, exchange: &Exchange) -> CallToolResult {
        action::result(action, self.pages(), exchange.splices())
    }

    async fn read(
        &self,
        name: &str,
        exchange: &Exchange,
        watcher: Option<Watcher>,
    ) -> Result<Answer, Problem> {
        let Exchange { caller, arguments, .. } = exchange;
        match self.gateway().call_watched(caller, name, arguments.clone(), None, watcher).await? {
            Called::Answer(answer) => Ok(answer),
            // Tools are fixed for the life of a host, and this one reads.
            Called::Proposed(_) => Err(problem::internal()),
        }
    }

    /// In a task of its own: neither a dropped stream nor a cancellation reaches it.
    async fn propose(&self, name: &str, exchange: &Exchange) -> Result<Box<Action>, Problem> {
        let gateway = Arc::clone(self.gateway());
        let (caller, arguments) = (exchange.caller.clone(), exchange.arguments.clone());
        let (name, key) = (name.to_owned(), exchange.key.clone());
        let called = tokio::spawn(async move { gateway.call(&caller, &name, arguments, key).await });
        match called.await {
            Ok(called) => match called? {
                Called::Proposed(action) => Ok(action),
                Called::Answer(_) => Err(problem::internal()),
            },
            Err(died) => {
                tracing::error!(error = %died, "the task of a proposal died");
                Err(problem::internal())
            }
        }
    }

    fn answered(
        &self,
        answer: &Answer,
        promises: bool,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let objects_only = !super::server::is_stateless(context);
        let mut result = content::of_output(&answer.result, promises, objects_only, exchange.splices());
        result.meta = Some(content::meta(answer));
        result
    }
}
