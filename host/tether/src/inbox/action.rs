//! `GET /inbox/actions/{actionId}`: everything that a person needs for a decision, and
//! what came of it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use tether_core::action::{Action, Arguments, Preview, State as Standing, Status};
use tether_core::clock::Timestamp;
use tether_core::id::{ActionId, UserId};
use tether_core::port::actions::HistoryEvent;

use super::laid_out::laid_out;
use super::page::{Page, alert};
use super::person::{LOOKERS, Person};
use super::words::{actor, age, badge, code, named, standing, time, told};
use super::{decision, evidence, no_action, refused, touches};
use crate::http::{Host, Needs, Route};

pub(super) const SHOW: Route = Route {
    method: Method::GET,
    path: "/inbox/actions/{actionId}",
    needs: Needs::Session(LOOKERS),
    handler: || get(page),
};

/// What came of a decision, where the action itself does not show it.
pub(super) struct Notice {
    pub(super) status: StatusCode,
    /// Seconds after which it may be tried again.
    pub(super) retry_after: Option<u64>,
    pub(super) text: String,
    /// The reason that the person had written.
    pub(super) reason: Option<String>,
}

async fn page(State(host): State<Arc<Host>>, Named(id): Named, person: Person) -> Response {
    match id {
        Some(id) => show(&host, &person, id, None).await,
        None => no_action(host.inbox(), &person),
    }
}

/// The action that the path names; what cannot be an id names none.
pub(super) struct Named(pub(super) Option<ActionId>);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(path.ok().and_then(|Path(id)| id.parse().ok())))
    }
}

/// The action's page.
pub(super) async fn show(host: &Host, person: &Person, id: ActionId, notice: Option<Notice>) -> Response {
    let inbox = host.inbox();
    let found = async {
        let action = person.gateway.action(&person.caller, id).await?;
        let history = person.gateway.history(&person.caller, id).await?;
        let fell = person.gateway.whose_yes_fell(&action).await?;
        Ok((action, history, fell))
    };
    let (action, history, fell) = match found.await {
        Ok(found) => found,
        Err(problem) => return refused(inbox, Some(person), problem),
    };
    let (status, now) = (notice.as_ref().map_or(StatusCode::OK, |notice| notice.status), inbox.now());
    let title = format!("{}: {}", standing(action.state.status()), action.proposal.tool);
    let main = main(person, &action, &fell, &history, notice.as_ref(), now);
    let retry_after = notice.as_ref().and_then(|notice| notice.retry_after);
    Page { status, retry_after, title: &title, person: Some(person), list: None, main, now }.into_response()
}

fn main(
    person: &Person,
    action: &Action,
    fell: &[UserId],
    history: &[HistoryEvent],
    notice: Option<&Notice>,
    now: Timestamp,
) -> Markup {
    let proposal = &action.proposal;
    let status = action.state.status();
    let waits = status == Status::Pending;
    let decision =
        decision::section(person, action, fell, notice.and_then(|notice| notice.reason.as_deref()));
    let mut says = format!("This action is {}.", standing(status).to_lowercase());
    if waits && proposal.people > 1 {
        says += &format!(" {} of {} people said yes.", action.state.approvals().len(), proposal.people);
    }
    html! {
        main #main.action data-action=(action.id) data-stands=(action.revision.0) data-says=(says) {
            div.title {
                h1 { code { (named(proposal.tool.as_str())) } }
                (badge(status))
                p.lead {
                    "Asked for by " b { (named(proposal.proposer.as_str())) }
                    ", " (age(proposal.created_at, now)) "."
                    @if let Standing::Pending { expires_at, .. } = &action.state {
                        " It can be decided until " (time(*expires_at)) ", " (age(*expires_at, now)) "."
                    }
                }
            }
            @if let Some(notice) = notice { (alert(&notice.text)) }
            // What is over is read from its end; what waits is read before it is decided.
            @if !waits { (decision) }
            div.knowledge {
                (preview(&proposal.preview))
                (arguments(&proposal.arguments))
                (evidence::section(action))
                (touches::section(&proposal.binding))
                (particulars(action, now))
            }
            @if waits { (decision) }
            (told_history(history))
        }
    }
}

fn preview(preview: &Preview) -> Markup {
    html! {
        section.sheet aria-labelledby="would" {
            h2 #would { "What the tool says it would do" }
            @match preview {
                Preview::Text(text) => p.would { (told(text)) },
                Preview::None => p { "It makes no preview. The arguments say what it is asked for." },
                Preview::Unavailable(why) => {
                    p { b { "That is not known." } " The tool was asked, and failed: " (told(why)) }
                }
                Preview::Erased => p { "This is no longer kept." },
            }
        }
    }
}

fn arguments(arguments: &Arguments) -> Markup {
    html! {
        section.sheet aria-labelledby="arguments" {
            h2 #arguments { "Arguments, in full" }
            @match arguments {
                Arguments::Kept(json) => {
                    pre dir="ltr" tabindex="0" role="group" aria-labelledby="arguments" { bdi { (laid_out(json)) } }
                }
                Arguments::Erased(digest) => {
                    p { "They are no longer kept. Their digest was " (code(&digest.to_string())) "." }
                }
            }
        }
    }
}

fn particulars(action: &Action, now: Timestamp) -> Markup {
    let proposal = &action.proposal;
    let approvals = action.state.approvals();
    html! {
        section.sheet aria-labelledby="particulars" {
            h2 #particulars { "Particulars" }
            dl.pairs {
                dt { "Asked for by" }
                dd { (named(proposal.proposer.as_str())) ", of tenant " (named(proposal.tenant.as_str())) }
                dt { "Proposed" }
                dd { (time(proposal.created_at)) ", " (age(proposal.created_at, now)) }
                @if let Standing::Pending { expires_at, .. } = &action.state {
                    dt { "Expires" }
                    dd { (time(*expires_at)) ", " (age(*expires_at, now)) }
                }
                dt { "Attempts" }
                dd { (action.state.attempts_used()) " of " (proposal.max_attempts) " used" }
                @if proposal.people > 1 {
                    dt { "People" }
                    dd {
                        "It takes " (proposal.people) ". "
                        @if approvals.is_empty() { "None has said yes so far." } @else {
                            "Yes from "
                            @for (index, approval) in approvals.iter().enumerate() {
                                @if index > 0 { ", " }
                                b { (named(approval.claim.by.as_str())) } " at " (time(approval.at))
                            }
                            "."
                        }
                    }
                }
                dt { "Id" }
                dd { (code(&action.id.to_string())) }
            }
        }
    }
}

fn told_history(history: &[HistoryEvent]) -> Markup {
    html! {
        section.sheet.history aria-labelledby="history" {
            h2 #history { "History" }
            ol.steps {
                @for event in history {
                    li {
                        p { (told(&sentence(&event.detail))) }
                        p.facts { (time(event.at)) span { "by " (actor(event.actor.as_ref())) } }
                    }
                }
            }
        }
    }
}

/// With a capital at its beginning and a stop at its end.
fn sentence(detail: &str) -> String {
    let mut letters = detail.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if detail.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_told_as_a_sentence() {
        assert_eq!(sentence("confirmed; attempt 1 begins"), "Confirmed; attempt 1 begins.");
        assert_eq!(sentence("Proposed."), "Proposed.");
    }
}
