//! How a person is asked about a proposal: by the page of the inbox that a client opens, or,
//! where the rule of the tool lets that count, by a form in the client. What a client answers
//! about a page decides nothing.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CreateTaskResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use tether_core::action::{Action, State};
use tether_core::problem::Code;
use tether_gateway::Outcome;

use super::asked::Resumed;
use super::exchange::Exchange;
use super::server::{Server, is_stateless};
use super::{action, problem, task, words};

/// How long a form may stand: less than clients wait for a call.
const FORM: Duration = Duration::from_secs(50);

/// How long the result of a proposal waits for a client that was given a page: what is asked
/// and the result that follows keep no order of their own.
const PAGE: Duration = Duration::from_secs(1);

/// The name of the page among what a client is asked for.
pub(super) const BY_PAGE: &str = "decide";

/// The name of the form.
const BY_FORM: &str = "decision";

/// What a client can.
pub(super) struct Can {
    pub(super) forms: bool,
    pub(super) pages: bool,
    pub(super) tasks: bool,
}

impl Can {
    /// What it said with the request, or as its session began.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let Some(can) = context.client_capabilities() else {
            return Self { forms: false, pages: false, tasks: false };
        };
        // An empty capability is that of the first revision that had one: forms.
        let forms = can.elicitation.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none());
        let pages = can.elicitation.as_ref().is_some_and(|can| can.url.is_some());
        Self { forms, pages, tasks: can.supports_tasks() && is_stateless(context) }
    }
}

/// The page of the inbox, for the person.
pub(super) fn page(action: &Action, url: String) -> ElicitRequestParams {
    let message = words::to_decide(action);
    ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message,
        url,
        elicitation_id: action.id.to_string(),
    }
}

/// What a client is asked for, under this name.
pub(super) fn input(name: &str, params: ElicitRequestParams) -> InputRequests {
    InputRequests::from([(name.to_owned(), InputRequest::Elicitation(ElicitRequest::new(params)))])
}

/// What the answer to a form says; nothing where it says neither.
fn decision(answer: &ElicitResult) -> Option<bool> {
    if answer.action != ElicitationAction::Accept {
        return None;
    }
    match answer.content.as_ref()?.get("decision")?.as_str()? {
        "confirm" => Some(true),
        "decline" => Some(false),
        _ => None,
    }
}

impl Server {
    /// What is answered to the proposal of `action`.
    pub(super) async fn proposed(
        &self,
        action: Action,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let plain = || Ok(self.told_of(&action, exchange).into());
        let State::Pending { attempts_used, .. } = action.state else { return plain() };
        let (can, stateless) = (Can::of(context), is_stateless(context));
        let form = self.form(&action, exchange).filter(|_| can.forms);
        if let Some(form) = form
            && self.asked().note(action.id)
        {
            if stateless {
                let nonce = self.asked().give(action.id, attempts_used);
                let state = Resumed::ByForm(action.id, nonce).written();
                return Ok(InputRequiredResult::new(Some(input(BY_FORM, form)), Some(state)).into());
            }
            return match self.by_form(form, exchange, context).await {
                Some(yes) => self.decided(&action, yes, attempts_used, exchange).await,
                None => plain(),
            };
        }
        if can.tasks {
            let has_page = can.pages && !self.asked().was(action.id);
            let task = task::begun(&action, self.pages(), has_page);
            return Ok(CreateTaskResult::new(task).with_meta(action::meta(&action, self.pages())).into());
        }
        if can.pages && self.asked().note(action.id) {
            let page = page(&action, self.pages().of(&action));
            if stateless {
                let state = Resumed::ByPage(action.id).written();
                return Ok(InputRequiredResult::new(Some(input(BY_PAGE, page)), Some(state)).into());
            }
            self.by_page(page, exchange, context).await;
        }
        plain()
    }

    /// A call that is repeated with what its client was asked for: never a second proposal.
    pub(super) async fn resumed(
        &self,
        name: &str,
        state: &str,
        answers: InputResponses,
        exchange: &Exchange,
    ) -> Result<CallToolResponse, ErrorData> {
        let other = || problem::invalid(words::OTHER_STATE);
        let resumed = Resumed::read(state).ok_or_else(other)?;
        let action = match self.gateway().action(&exchange.caller, resumed.id()).await {
            Ok(action) => action,
            Err(wrong) if wrong.code == Code::ActionNotFound => return Err(other()),
            Err(wrong) => return problem::told(wrong).map(CallToolResponse::from),
        };
        let proposal = &action.proposal;
        if proposal.tool.as_str() != name
            || proposal.arguments.fingerprint() != exchange.arguments.fingerprint()
        {
            return Err(other());
        }
        let attempts = match &resumed {
            Resumed::ByForm(id, nonce) => Some(self.asked().given(*id, nonce).ok_or_else(other)?),
            Resumed::ByPage(_) => None,
        };
        let answer = answers.get(BY_FORM).and_then(|answer| serde_json::from_value(answer.clone()).ok());
        match (attempts, answer.as_ref().and_then(decision)) {
            (Some(attempts), Some(yes)) => self.decided(&action, yes, attempts, exchange).await,
            _ => Ok(self.told_of(&action, exchange).into()),
        }
    }

    /// The form, where the rule lets one decide and it can show everything.
    fn form(&self, action: &Action, exchange: &Exchange) -> Option<ElicitRequestParams> {
        self.gateway().may_decide_in_client(&exchange.caller, action).ok()?;
        let message = words::form(action)?;
        let choices = vec!["confirm".to_owned(), "decline".to_owned()];
        let schema =
            ElicitationSchema::builder().required_enum_schema(BY_FORM, EnumSchema::builder(choices).build());
        let requested_schema = schema.build().ok()?;
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Shows the form of a session's client; nothing where it is not answered.
    async fn by_form(
        &self,
        form: ElicitRequestParams,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) -> Option<bool> {
        tokio::select! {
            answer = context.peer.create_elicitation_with_timeout(form, Some(FORM)) => {
                answer.ok().as_ref().and_then(decision)
            }
            () = context.ct.cancelled() => None,
            () = exchange.is_abandoned() => None,
            () = self.closes() => None,
        }
    }

    /// Gives a session's client the page, and waits for a moment.
    async fn by_page(
        &self,
        page: ElicitRequestParams,
        exchange: &Exchange,
        context: &RequestContext<RoleServer>,
    ) {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(page));
        let shown = async {
            let asked =
                context.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            if let Ok(asked) = asked {
                // Dropped later, it says nothing to the client.
                let _ = asked.rx.await;
            }
        };
        tokio::select! {
            _ = tokio::time::timeout(PAGE, shown) => {}
            () = context.ct.cancelled() => {}
            () = exchange.is_abandoned() => {}
        }
    }

    /// What a form's answer came to. In a task of its own: a person's yes is not called off by
    /// a stream that breaks.
    async fn decided(
        &self,
        action: &Action,
        yes: bool,
        attempts: u32,
        exchange: &Exchange,
    ) -> Result<CallToolResponse, ErrorData> {
        let (gateway, caller, id) = (Arc::clone(self.gateway()), exchange.caller.clone(), action.id);
        let decided = tokio::spawn(async move { gateway.decide_in_client(&caller, id, yes, attempts).await });
        let outcome: Outcome = match decided.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(wrong)) => return problem::told(wrong).map(CallToolResponse::from),
            Err(died) => {
                tracing::error!(error = %died, "the task of a decision died");
                return problem::told(problem::internal()).map(CallToolResponse::from);
            }
        };
        Ok(action::outcome(&outcome, self.pages(), exchange.splices()).into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_says_yes_or_no_and_everything_else_is_neither() {
        let check = |answer: serde_json::Value, says: Option<bool>| {
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            assert_eq!(answer.as_ref().and_then(decision), says, "{answer:?}");
        };
        check(json!({"action": "accept", "content": {"decision": "confirm"}}), Some(true));
        check(json!({"action": "accept", "content": {"decision": "decline"}}), Some(false));
        check(json!({"action": "accept", "content": {"decision": "Confirm"}}), None);
        check(json!({"action": "accept", "content": {"decision": true}}), None);
        check(json!({"action": "accept", "content": {}}), None);
        check(json!({"action": "accept", "content": "confirm"}), None);
        check(json!({"action": "accept"}), None);
        check(json!({"action": "decline", "content": {"decision": "confirm"}}), None);
        check(json!({"action": "cancel"}), None);
        check(json!({"content": {"decision": "confirm"}}), None);
    }
}
