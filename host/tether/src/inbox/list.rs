//! `GET /inbox`: what waits for a decision, or everything, newest first.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{self, Query};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use tether_core::action::{Action, Preview, State, Status};
use tether_core::clock::Timestamp;
use tether_core::plain::plain;

use super::page::{List, Page};
use super::person::{LOOKERS, Person};
use super::refused;
use super::words::{age, badge, counted, named, time};
use crate::http::{Host, Needs, Route};

pub(super) const LIST: Route =
    Route { method: Method::GET, path: "/inbox", needs: Needs::Session(LOOKERS), handler: || get(list) };

/// Actions on a page.
const MOST: usize = 50;

/// So much of a preview names an action in the list; the whole of it is on its page.
const NAME: usize = 200;

async fn list(
    extract::State(host): extract::State<Arc<Host>>,
    person: Person,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    let query = query.map(|Query(query)| query).unwrap_or_default();
    let list = if query.iter().any(|(name, _)| name == "all") { List::All } else { List::Waiting };
    let cursor = query.into_iter().find(|(name, _)| name == "cursor").map(|(_, cursor)| cursor);
    let older = cursor.is_some();
    let status = (list == List::Waiting).then_some(Status::Pending);
    let inbox = host.inbox();
    let page = match person.gateway.actions(&person.caller, status, MOST, cursor).await {
        Ok(page) => page,
        Err(problem) => return refused(inbox, Some(&person), problem),
    };
    let seen = Seen { person: &person, list, older, now: inbox.now() };
    let main = seen.main(&page.actions, page.next.as_deref());
    let title = seen.heading();
    let person = Some(&person);
    Page { status: StatusCode::OK, retry_after: None, title, person, list: Some(list), main, now: seen.now }
        .into_response()
}

struct Seen<'a> {
    person: &'a Person,
    list: List,
    /// Not the first page.
    older: bool,
    now: Timestamp,
}

impl Seen<'_> {
    fn heading(&self) -> &'static str {
        match self.list {
            List::Waiting => "Waiting for a decision",
            List::All => "All actions",
        }
    }

    fn main(&self, actions: &[Action], next: Option<&str>) -> Markup {
        let first = actions.first().map(|action| action.id.to_string());
        let count = counted(actions.len() as u64, "action");
        let says = match self.list {
            List::Waiting => format!("{count} on this page for a decision."),
            List::All => format!("{count} on this page."),
        };
        html! {
            main #main data-stands=(stands(actions)) data-says=(says) {
                h1 { (self.heading()) }
                p.lead {
                    @match self.list {
                        List::Waiting => "Nothing of this runs before a person confirms it. Newest first.",
                        List::All => "What waits, runs and is over. Newest first.",
                    }
                }
                @if first.is_none() { (self.nothing()) } @else {
                    ul.list { @for action in actions { li { (self.line(action)) } } }
                }
                @if next.is_some() || self.older {
                    nav.pages aria-label="Pages" {
                        @if self.older { a.button href=(self.list.url()) { "Newest" } }
                        @if let Some(next) = next { a.button href=(self.next(next)) rel="next" { "Older" } }
                    }
                }
            }
        }
    }

    fn next(&self, cursor: &str) -> String {
        let sign = if self.list == List::All { '&' } else { '?' };
        format!("{}{sign}cursor={cursor}", self.list.url())
    }

    fn nothing(&self) -> Markup {
        html! {
            div.empty {
                p { "Nothing " @match self.list { List::Waiting => "waits for you.", List::All => "was proposed yet." } }
                @if self.list == List::Waiting { p { "What agents propose appears here by itself." } }
            }
        }
    }

    fn line(&self, action: &Action) -> Markup {
        let proposal = &action.proposal;
        let status = action.state.status();
        html! {
            h2 { a #{ "a-" (action.id) } href={ "/inbox/actions/" (action.id) } { (name(action)) } }
            // Whatever waits stands alike.
            @if self.list == List::All { (badge(status)) }
            ul.facts {
                li { code { (named(proposal.tool.as_str())) } }
                li { "asked by " b { (named(proposal.proposer.as_str())) } }
                li { "proposed " (time(proposal.created_at)) ", " (age(proposal.created_at, self.now)) }
                @if status == Status::Pending { (self.waiting(action)) }
            }
        }
    }

    fn waiting(&self, action: &Action) -> Markup {
        let (used, people) = (action.state.attempts_used(), action.proposal.people);
        let yours = self.person.gateway.may_decide(&self.person.caller, action);
        html! {
            @if let State::Pending { expires_at, .. } = &action.state { li { "expires " (age(*expires_at, self.now)) } }
            @if used > 0 { li { b { (used) " of " (action.proposal.max_attempts) " attempts failed" } } }
            @if people > 1 { li { (action.state.approvals().len()) " of " (people) " people said yes" } }
            @if yours.is_err() { li { "not yours to decide" } }
        }
    }
}

/// The preview, or what there is instead.
fn name(action: &Action) -> Markup {
    let proposal = &action.proposal;
    let text = match &proposal.preview {
        Preview::Text(text) => plain(text, NAME),
        Preview::None => format!("{}, without a preview", proposal.tool),
        Preview::Unavailable(_) => format!("{}, whose preview failed", proposal.tool),
        Preview::Erased => format!("{}, no longer kept", proposal.tool),
    };
    html! { bdi { (text) } }
}

/// Changes with every move of an action on the page.
fn stands(actions: &[Action]) -> String {
    actions.iter().map(|action| format!("{} {};", action.id, action.revision.0)).collect()
}
