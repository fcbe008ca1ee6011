//! How a person is asked about a proposal: by the page of the inbox that a client opens, or,
//! where the rule of the tool lets that count, by a form in the client. What a client answers
//! about a page decides nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CreateTaskResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use tether_core::action::{Action, State};
use tether_core::id::ActionId;
use tether_gateway::Outcome;

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

/// The actions about which a person was asked through a client: nobody is asked twice, so
/// that no client goes round in circles. Kept for a while only.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    actions: HashMap<ActionId, Option<Form>>,
    order: VecDeque<ActionId>,
}

/// A form that was given to a client.
#[derive(Debug)]
struct Form {
    /// What whoever answers it has from it, and nobody else.
    nonce: String,
    /// The attempts that were used.
    attempts: u32,
}

/// How many are kept.
const KEPT: usize = 4_096;

impl Asked {
    /// Notes that it was asked; true where it was not before.
    pub(super) fn note(&self, id: ActionId) -> bool {
        let mut kept = self.kept();
        if kept.actions.contains_key(&id) {
            return false;
        }
        kept.actions.insert(id, None);
        kept.order.push_back(id);
        if kept.order.len() > KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.actions.remove(&oldest);
        }
        true
    }

    /// Whether it was noted.
    pub(super) fn was(&self, id: ActionId) -> bool {
        self.kept().actions.contains_key(&id)
    }

    /// A form about it is given, with so many attempts used; its nonce.
    fn give(&self, id: ActionId, attempts: u32) -> String {
        let nonce = super::splice::nonce();
        if let Some(form) = self.kept().actions.get_mut(&id) {
            *form = Some(Form { nonce: nonce.clone(), attempts });
        }
        nonce
    }

    /// The attempts that the form with this nonce was about; none where no such was given.
    fn given(&self, id: ActionId, nonce: &str) -> Option<u32> {
        let kept = self.kept();
        let form = kept.actions.get(&id)?.as_ref()?;
        (form.nonce == nonce).then_some(form.attempts)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client repeats a call with: which action it is about, and for a form, which one
/// that was. A page's is no secret, and whoever makes one up gets no further than with
/// `tether_actions`; a form's cannot be made up.
#[derive(Debug, PartialEq, Eq)]
enum Resumed {
    ByPage(ActionId),
    ByForm(ActionId, String),
}

impl Resumed {
    fn read(state: &str) -> Option<Self> {
        if let Some(id) = state.strip_prefix("page:") {
            return id.parse().ok().map(Self::ByPage);
        }
        let (id, nonce) = state.strip_prefix("form:")?.split_once(':')?;
        Some(Self::ByForm(id.parse().ok()?, nonce.to_owned()))
    }

    fn id(&self) -> ActionId {
        match self {
            Self::ByPage(id) | Self::ByForm(id, _) => *id,
        }
    }

    fn written(&self) -> String {
        match self {
            Self::ByPage(id) => format!("page:{id}"),
            Self::ByForm(id, nonce) => format!("form:{id}:{nonce}"),
        }
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
            let task = task::begun(&action, self.pages(), can.pages);
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
        let other = || problem::invalid("`requestState` is none that this call gave");
        let resumed = Resumed::read(state).ok_or_else(other)?;
        let action = match self.gateway().action(&exchange.caller, resumed.id()).await {
            Ok(action) => action,
            Err(wrong) if wrong.code == tether_core::problem::Code::ActionNotFound => return Err(other()),
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

    #[test]
    fn a_state_survives_its_text_and_other_texts_are_none() {
        let id: ActionId = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        for state in [Resumed::ByPage(id), Resumed::ByForm(id, "a:b".into())] {
            assert_eq!(Resumed::read(&state.written()).as_ref(), Some(&state));
        }
        for text in ["", "page:", "page:x", &format!("form:{id}"), &format!("{id}")] {
            assert_eq!(Resumed::read(text), None, "{text}");
        }
    }

    #[test]
    fn nobody_is_asked_twice_for_as_long_as_it_is_kept() {
        let asked = Asked::default();
        let id = |number: usize| ActionId::from_random((number as u128).to_be_bytes());
        assert!(asked.note(id(0)) && !asked.note(id(0)) && asked.was(id(0)) && !asked.was(id(1)));
        (1..=KEPT).for_each(|number| assert!(asked.note(id(number))));
        assert!(!asked.was(id(0)) && asked.was(id(1)));
    }
}
