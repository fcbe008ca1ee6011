//! Actions as tasks: `tasks/get`, `tasks/update` and `tasks/cancel` of the extension
//! `io.modelcontextprotocol/tasks`. A task has its action's id.

use rmcp::ErrorData;
use rmcp::model::{
    CancelTaskParams, DetailedTask, GetTaskParams, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tether_core::action::{Action, State};
use tether_core::clock::Timestamp;
use tether_core::problem::{Code, Problem};

use super::action::Pages;
use super::decision::{BY_PAGE, Can, input, page};
use super::exchange::Exchange;
use super::server::Server;
use super::{action, problem, words};
use crate::wire::Moment;

/// How often it is worth asking, in milliseconds.
const POLL: u64 = 5_000;

/// The task of an action that was proposed; `has_page`: with a page that the client is to open.
pub(super) fn begun(action: &Action, pages: &Pages, has_page: bool) -> Task {
    let status = if has_page { TaskStatus::InputRequired } else { TaskStatus::Working };
    task(action, pages, status, action.proposal.created_at)
}

fn task(action: &Action, pages: &Pages, status: TaskStatus, at: Timestamp) -> Task {
    let [created, updated] = [action.proposal.created_at, at].map(|at| Moment::from(at).to_string());
    Task::new(action.id.to_string(), status, created, updated)
        .with_poll_interval_ms(POLL)
        .with_status_message(words::action(action, &pages.of(action)))
}

fn unknown() -> ErrorData {
    problem::invalid("there is no such task of yours")
}

fn refused(wrong: Problem) -> ErrorData {
    match wrong.code {
        Code::ActionNotFound => unknown(),
        _ => ErrorData::internal_error(words::problem(&wrong), None),
    }
}

impl Server {
    /// Where a task stands, and what it gave.
    pub(super) async fn looked_at(
        &self,
        request: GetTaskParams,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let action = self.action_of(&request.task_id, exchange).await?;
        let history = self.gateway().history(&exchange.caller, action.id).await.map_err(refused)?;
        let at = history.last().map_or(action.proposal.created_at, |event| event.at);
        let payload = match &action.state {
            State::Pending { .. } if Can::of(context).pages && !self.asked().was(action.id) => {
                TaskPayload::InputRequired {
                    input_requests: input(BY_PAGE, page(&action, self.pages().of(&action))),
                }
            }
            State::Pending { .. } | State::Executing { .. } => TaskPayload::Working,
            ended => {
                let mut result = action::result(&action, self.pages(), exchange.splices());
                result.is_error = Some(!matches!(ended, State::Succeeded { .. }));
                TaskPayload::Completed { result: object(serde_json::to_value(result).unwrap_or_default()) }
            }
        };
        let task = task(&action, self.pages(), TaskStatus::Working, at);
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// A client has shown what it was given to show. It decides nothing.
    pub(super) async fn answered_to(
        &self,
        request: UpdateTaskParams,
        exchange: &Exchange,
    ) -> Result<(), ErrorData> {
        let action = self.action_of(&request.task_id, exchange).await?;
        if request.input_responses.contains_key(BY_PAGE) {
            self.asked().note(action.id);
        }
        Ok(())
    }

    /// Nothing happens: whoever proposed cannot withdraw, a person declines.
    pub(super) async fn called_off(
        &self,
        request: CancelTaskParams,
        exchange: &Exchange,
    ) -> Result<(), ErrorData> {
        self.action_of(&request.task_id, exchange).await.map(drop)
    }

    async fn action_of(&self, task: &str, exchange: &Exchange) -> Result<Action, ErrorData> {
        let id = task.parse().map_err(|_| unknown())?;
        self.gateway().action(&exchange.caller, id).await.map_err(refused)
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
