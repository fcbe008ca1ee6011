//! The inbox: where a person sees what waits, and decides. Pages of HTML that work
//! without a script, with a keyboard, on a phone and with a screen reader; `live.js`
//! only makes them show what is new by themselves.
//!
//! A file is a page, or a part of one. Whatever a stranger wrote goes through
//! [`words::told`] or [`laid_out`], and is text.

mod action;
mod assets;
mod decide;
mod decision;
mod events;
mod evidence;
mod feed;
mod form;
mod laid_out;
mod list;
mod page;
mod person;
mod sign_in;
mod touches;
mod uses;
mod words;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tether_core::clock::{Clock, Timestamp};
use tether_core::digest::Digest;
use tether_core::port::actions::StoreError;
use tether_core::port::announcements::Announcements;
use tether_core::port::sessions::Sessions;
use tether_core::problem::{Code, Problem};
use tether_gateway::store_problem;

use crate::http::{Origin, Place, Route, status_of};
use feed::Feed;
use page::{Page, message};
use person::Person;
use uses::Uses;

pub(crate) use person::admit;

/// Everything that the inbox serves.
pub(crate) const ROUTES: &[Route] = &[
    list::LIST,
    sign_in::FORM,
    sign_in::SIGN_IN,
    sign_in::SIGN_OUT,
    action::SHOW,
    decide::CONFIRM,
    decide::DECLINE,
    events::EVENTS,
    assets::STYLE,
    assets::SCRIPT,
];

/// What the pages share, besides the gateway.
pub(crate) struct Inbox {
    place: Place,
    session_time: Duration,
    sessions: Arc<dyn Sessions>,
    uses: Uses,
    clock: Arc<dyn Clock>,
    feed: Feed,
    streams: events::Streams,
}

impl Inbox {
    /// The inbox of a host that listens at `listen`.
    pub(crate) fn new(
        settings: &crate::config::Inbox,
        listen: SocketAddr,
        sessions: Arc<dyn Sessions>,
        feed: Arc<dyn Announcements>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        if !listen.ip().is_loopback() && !settings.url.as_ref().is_some_and(Origin::is_https) {
            tracing::warn!(
                "nobody can sign in to the inbox from another machine: browsers keep its cookie over TLS only; \
                 set `url` of [inbox] to the https:// that a proxy in front of it has"
            );
        }
        Self {
            place: Place::new(settings.url.clone(), listen),
            session_time: settings.session,
            sessions,
            uses: Uses::default(),
            feed: Feed::new(feed, Arc::clone(&clock)),
            clock,
            streams: events::Streams::default(),
        }
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A name that no page in the clear can set, where there is TLS.
    fn cookie_name(&self) -> &'static str {
        if self.place.is_secure() { "__Host-tether" } else { "tether" }
    }

    /// Ends a session, and its streams.
    async fn close(&self, session: Digest) -> Result<(), StoreError> {
        self.sessions.close(session).await?;
        self.feed.ended();
        Ok(())
    }

    /// A token is revoked: the streams of sessions that were opened with it end now.
    pub(crate) fn token_revoked(&self) {
        self.feed.ended();
    }
}

/// A page that says one thing.
fn message_page(
    inbox: &Inbox,
    person: Option<&Person>,
    status: StatusCode,
    title: &str,
    text: &str,
) -> Response {
    let (main, now) = (message(title, text), inbox.now());
    Page { status, retry_after: None, title, person, list: None, main, now }.into_response()
}

fn failed(inbox: &Inbox, status: StatusCode, text: &str) -> Response {
    message_page(inbox, None, status, "That did not work", text)
}

/// Instead of a page that the gateway refused: with the status that the API gives.
fn refused(inbox: &Inbox, person: Option<&Person>, problem: Problem) -> Response {
    let status = status_of(&problem);
    let title = match problem.code {
        Code::ActionNotFound => "There is no such action",
        _ => "That did not work",
    };
    let text = match problem.code {
        Code::ActionNotFound => "It may be another tenant's, or the address is not whole.",
        _ => &problem.detail,
    };
    let retry_after = retry_after(&problem);
    let (main, now) = (message(title, text), inbox.now());
    Page { status, retry_after, title, person, list: None, main, now }.into_response()
}

/// In whole seconds, never too soon.
fn retry_after(problem: &Problem) -> Option<u64> {
    let millis = problem.retry_after?.as_millis();
    u64::try_from(millis.div_ceil(1000)).ok()
}

fn no_action(inbox: &Inbox, person: &Person) -> Response {
    refused(inbox, Some(person), Problem::new(Code::ActionNotFound, ""))
}

fn failed_for_now(inbox: &Inbox, text: &str) -> Response {
    let problem = Problem::new(Code::Overloaded, text);
    refused(inbox, None, Problem { retry_after: Some(Duration::from_secs(5)), ..problem })
}

fn starting(inbox: &Inbox) -> Response {
    let problem = Problem::new(Code::Overloaded, "The gateway is starting. Try again in a moment.");
    refused(inbox, None, Problem { retry_after: Some(Duration::from_secs(1)), ..problem })
}

/// Instead of a page for which the store was needed.
fn store_failed(inbox: &Inbox, error: StoreError) -> Response {
    refused(inbox, None, store_problem(error))
}
