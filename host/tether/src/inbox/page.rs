//! What every page has: its frame, and the headers that keep others out of it.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use tether_core::clock::Timestamp;

use super::assets::{SCRIPT_URL, STYLE_URL};
use super::person::Person;
use super::words::{named, time, told};

/// Nothing but what this host serves, in no frame, and no script or style that somebody
/// could write into a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
     img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page of the inbox.
pub(super) struct Page<'a> {
    pub(super) status: StatusCode,
    /// Seconds after which it may be asked for again.
    pub(super) retry_after: Option<u64>,
    /// In the browser's tab.
    pub(super) title: &'a str,
    /// Who is signed in, if somebody is.
    pub(super) person: Option<&'a Person>,
    /// Which list it is.
    pub(super) list: Option<List>,
    /// The whole `<main id="main">`.
    pub(super) main: Markup,
    /// When it was made.
    pub(super) now: Timestamp,
}

/// A list of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// What waits.
    Waiting,
    /// Everything.
    All,
}

impl List {
    pub(super) fn url(self) -> &'static str {
        match self {
            Self::Waiting => "/inbox",
            Self::All => "/inbox?all",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::All => "All",
        }
    }
}

impl IntoResponse for Page<'_> {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let mut response = (status, self.html().into_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // Without a referrer, browsers would send `Origin: null` with the forms.
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        // A page is true for a moment, and for one person.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl Page<'_> {
    fn html(self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="robots" content="noindex";
                    title { (self.title) " · Tether inbox" }
                    link rel="stylesheet" href=(*STYLE_URL);
                    @if self.person.is_some() { script src=(*SCRIPT_URL) defer {} }
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    header.banner {
                        a.brand href="/inbox" { "Tether inbox" }
                        @if let Some(person) = self.person { (lists(self.list)) (signed_in(person)) }
                    }
                    (self.main)
                    footer.foot {
                        p #as-of { "As of " (time(self.now)) }
                        @if self.person.is_some() { p #live role="status" {} }
                    }
                }
            }
        }
    }
}

fn lists(current: Option<List>) -> Markup {
    html! {
        nav aria-label="Actions" {
            ul {
                @for list in [List::Waiting, List::All] {
                    li {
                        a href=(list.url()) aria-current=[(current == Some(list)).then_some("page")] {
                            (list.name())
                        }
                    }
                }
            }
        }
    }
}

fn signed_in(person: &Person) -> Markup {
    html! {
        div.person {
            span { (named(person.caller.user.as_str())) " · " (named(person.caller.tenant.as_str())) }
            form method="post" action="/inbox/sign-out" {
                (person.proof())
                button.plain { "Sign out" }
            }
        }
    }
}

/// A page that says one thing: what went wrong, and what to do.
pub(super) fn message(heading: &str, text: &str) -> Markup {
    html! {
        main #main.narrow {
            h1 { (heading) }
            p { (told(text)) }
            p { a.button href="/inbox" { "To the inbox" } }
        }
    }
}

/// Something that a person must read before anything else.
pub(super) fn alert(text: &str) -> Markup {
    html! { div.note.failed role="alert" { p { (told(text)) } } }
}
