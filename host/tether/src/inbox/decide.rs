//! `POST /inbox/actions/{actionId}/confirm` and `…/decline`: what a person decided.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use tether_core::action::Action;
use tether_core::confirm::Seen;
use tether_core::id::{ActionId, IdempotencyKey, UserId};
use tether_core::problem::{Code, Problem};
use tether_gateway::{Outcome, Told};

use super::action::{Named, Notice, show};
use super::form::Form;
use super::person::{DECIDERS, Person, Sent};
use super::{failed, no_action, retry_after};
use crate::http::{Host, Needs, Route, status_of};

pub(super) const CONFIRM: Route = Route {
    method: Method::POST,
    path: "/inbox/actions/{actionId}/confirm",
    needs: Needs::Session(DECIDERS),
    handler: || post(confirm),
};
pub(super) const DECLINE: Route = Route {
    method: Method::POST,
    path: "/inbox/actions/{actionId}/decline",
    needs: Needs::Session(DECIDERS),
    handler: || post(decline),
};

/// Confirms what the person saw. Every tab and every device of the person has the same
/// key for it: whichever is first, the others are told what came of that.
async fn confirm(State(host): State<Arc<Host>>, Named(id): Named, sent: Sent) -> Response {
    let Sent { person, form } = sent;
    let Some(id) = id else { return no_action(host.inbox(), &person) };
    let Some((seen, key)) = seen(&form).and_then(|seen| Some((seen, key(id, seen.attempts?)?))) else {
        let text = "The form does not say what was seen. Nothing was done.";
        return failed(host.inbox(), StatusCode::BAD_REQUEST, text);
    };
    let outcome = person.gateway.confirm_as_seen(&person.caller, id, Some(key), seen).await;
    answer(&host, &person, id, outcome, Before { seen, reason: None }).await
}

/// What the page showed whose form this is.
fn seen(form: &Form) -> Option<Seen> {
    let number = |name| form.field(name)?.parse::<u32>().ok();
    let (attempts, approvals) = (number("attemptsUsed")?, number("approvals")?);
    Some(Seen { attempts: Some(attempts), approvals: Some(approvals) })
}

fn key(id: ActionId, attempts_seen: u32) -> Option<IdempotencyKey> {
    format!("inbox:{id}:{attempts_seen}").parse().ok()
}

async fn decline(State(host): State<Arc<Host>>, Named(id): Named, sent: Sent) -> Response {
    let Sent { person, form } = sent;
    let Some(id) = id else { return no_action(host.inbox(), &person) };
    // Browsers end the lines of a form so.
    let reason = form.field("reason").unwrap_or_default().replace("\r\n", "\n");
    let reason = Some(reason.trim()).filter(|reason| !reason.is_empty()).map(str::to_owned);
    let outcome = person.gateway.decline(&person.caller, id, reason.clone()).await;
    answer(&host, &person, id, outcome, Before { seen: Seen::default(), reason }).await
}

/// What the person had before the decision was sent.
struct Before {
    seen: Seen,
    /// The reason that is written there.
    reason: Option<String>,
}

/// To the action, whose page shows the one result, whoever decided; where that would show
/// nothing of what came of this, the page at once, with a word about it.
async fn answer(
    host: &Host,
    person: &Person,
    id: ActionId,
    outcome: Result<Outcome, Problem>,
    before: Before,
) -> Response {
    let Before { seen, reason } = before;
    let back = || Redirect::to(&format!("/inbox/actions/{id}")).into_response();
    let notice = match outcome {
        Ok(outcome) => match (outcome.told, outcome.error()) {
            (Told::Conflict(Code::ActionOutdated | Code::ActionChanged), Some((_, text))) => {
                let text = said_yes_since(&outcome.action, seen, &person.caller.user).unwrap_or(text);
                Notice { status: StatusCode::CONFLICT, retry_after: None, text, reason }
            }
            _ => return back(),
        },
        // The page says that by itself.
        Err(problem) if problem.code == Code::KeyExpired => return back(),
        Err(problem) if problem.code == Code::ActionNotFound => return no_action(host.inbox(), person),
        Err(problem) => Notice {
            status: status_of(&problem),
            retry_after: retry_after(&problem),
            text: problem.detail,
            reason,
        },
    };
    show(host, person, id, Some(notice)).await
}

/// Who said yes since the page was made whose form was sent, and what follows for a yes of
/// `by`; none where that is not what changed.
fn said_yes_since(action: &Action, seen: Seen, by: &UserId) -> Option<String> {
    if seen.attempts != Some(action.state.attempts_used()) {
        return None;
    }
    let new = action.state.approvals().get(seen.approvals? as usize..).filter(|new| !new.is_empty())?;
    let names: Vec<_> = new.iter().map(|approval| approval.claim.by.as_str()).collect();
    let next = match action.approvals_missing(by) {
        0 => "Your yes would be the last: it runs at once.",
        _ => "It still takes others besides you.",
    };
    Some(format!("Since you looked, {} said yes. Yours was not taken. {next}", names.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_one_key_for_what_was_seen() {
        let id = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        let key = key(id, 1).unwrap();
        assert_eq!(key.as_str(), "inbox:9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918:1");
    }
}
