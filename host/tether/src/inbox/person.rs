//! Who is signed in: found anew at every request, by the cookie of the browser.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::hex::Hex;
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Role};
use tether_core::port::sessions::Session;
use tether_gateway::Gateway;

use super::form::Form;
use super::{Inbox, failed, message_page, store_failed};
use crate::http::Host;

/// Who sees the inbox.
pub(super) const LOOKERS: &[Role] = &[Role::Approver, Role::Admin];

/// Who decides.
pub(super) const DECIDERS: &[Role] = &[Role::Approver];

/// Cookies of one request that are looked up: each is a question to the store, which costs its
/// sender a cookie. Chrome and Firefox keep no more for a host; whoever sets that many there
/// has pushed ours out of the browser.
const MOST_COOKIES: usize = 180;

/// Somebody who is signed in, and the gateway that they decide at.
pub(crate) struct Person {
    pub(crate) caller: Caller,
    pub(super) gateway: Arc<Gateway>,
    pub(super) secret: Secret,
}

/// What a session's cookie holds: 32 random bytes in hex. Stored is its digest.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    /// A fresh one.
    pub(super) fn fresh() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(Hex(&bytes).to_string()))
    }

    /// What the browser sent under `name` and could be ours, each once, and [`MOST_COOKIES`]
    /// at most. There can be several: whoever serves anything under the same name of a host,
    /// on whatever port and path, can set one beside ours.
    pub(super) fn all_of(headers: &HeaderMap, name: &str) -> Vec<Self> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
        let mut seen = HashSet::new();
        let ours = values.filter(|value| value.len() == 64 && is_hex(value) && seen.insert(*value));
        ours.take(MOST_COOKIES).map(|value| Self(value.to_owned())).collect()
    }

    /// What the store knows it by.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// For the cookie, and for nothing else.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What a form must hold to be one of this session's pages. It tells nothing of the
    /// secret.
    fn proof(&self) -> String {
        Digest::of(format!("csrf{}", self.0)).hex()
    }

    fn is_proven(&self, form: &Form) -> bool {
        form.field("csrf").is_some_and(|given| same(given, &self.proof()))
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Takes as long wherever they differ.
fn same(a: &str, b: &str) -> bool {
    let differing = a.bytes().zip(b.bytes()).fold(0, |differing, (a, b)| differing | (a ^ b));
    a.len() == b.len() && differing == 0
}

impl Person {
    /// The hidden field that shows that a form is this session's.
    pub(super) fn proof(&self) -> Markup {
        html! { input type="hidden" name="csrf" value=(self.secret.proof()); }
    }
}

/// Lets the request in where somebody with one of `roles` is signed in; or says what is
/// answered instead. Whatever changes something must come from a page of the inbox.
pub(crate) async fn admit(host: &Host, parts: &Parts, roles: &[Role]) -> Result<Person, Response> {
    let inbox = host.inbox();
    if let Some(answer) = turned_away(inbox, parts) {
        return Err(answer);
    }
    let Some((secret, _, caller)) = signed_in(host, &parts.headers).await? else {
        return Err(to_sign_in(action_of(parts.uri.path())));
    };
    let Some(gateway) = host.gateway().cloned() else { return Err(super::starting(inbox)) };
    let person = Person { caller, gateway, secret };
    if !roles.iter().any(|role| person.caller.is(*role)) {
        let needed = roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(" or ");
        let text = format!("This takes the role {needed}.");
        return Err(message_page(inbox, Some(&person), StatusCode::FORBIDDEN, "Not allowed", &text));
    }
    Ok(person)
}

/// What is answered to a request for this host by another name, or to a change that
/// another page asks for: they get no further.
pub(super) fn turned_away(inbox: &Inbox, parts: &Parts) -> Option<Response> {
    if !inbox.place.is_meant(&parts.headers) {
        let text = "The inbox does not go by this name. Its own is set as `url` of [inbox].";
        let status = StatusCode::MISDIRECTED_REQUEST;
        return Some(message_page(inbox, None, status, "Another name", text));
    }
    if parts.method != Method::GET && parts.method != Method::HEAD && !inbox.place.is_own(&parts.headers) {
        let text = "The form was not sent by a page of this inbox. Nothing was done.";
        return Some(message_page(inbox, None, StatusCode::FORBIDDEN, "Not from here", text));
    }
    None
}

/// The session of the browser, and who that is now; none once it is over, or what it was
/// opened with is. Of several cookies it is the one that is valid; where two are, nobody can
/// tell whose browser it is, and none is.
pub(super) async fn signed_in(
    host: &Host,
    headers: &HeaderMap,
) -> Result<Option<(Secret, Session, Caller)>, Response> {
    let inbox = host.inbox();
    let mut valid = None;
    for secret in Secret::all_of(headers, inbox.cookie_name()) {
        let found = still_there(host, secret.digest(), inbox.now()).await;
        let Some((session, caller)) = found.map_err(|error| store_failed(inbox, error))? else { continue };
        if valid.replace((secret, session, caller)).is_some() {
            return Ok(None);
        }
    }
    Ok(valid)
}

/// See [`signed_in`].
pub(super) async fn still_there(
    host: &Host,
    digest: Digest,
    now: Timestamp,
) -> Result<Option<(Session, Caller)>, tether_core::port::actions::StoreError> {
    let session = host.inbox().sessions.find(digest).await?;
    let Some(session) = session.filter(|session| now < session.expires_at) else { return Ok(None) };
    let caller = host.identities().caller_of(&session).await?;
    if caller.is_some() {
        host.inbox().uses.note(digest, session.expires_at);
    }
    Ok(caller.map(|caller| (session, caller)))
}

/// The action that a path of the inbox is about.
fn action_of(path: &str) -> Option<ActionId> {
    path.strip_prefix("/inbox/actions/")?.split('/').next()?.parse().ok()
}

/// To the form of signing in, and from there back to this action. It is an id and nothing
/// else: nobody can be sent anywhere else by it.
pub(super) fn to_sign_in(action: Option<ActionId>) -> Response {
    match action {
        Some(action) => Redirect::to(&format!("/inbox/sign-in?action={action}")),
        None => Redirect::to("/inbox/sign-in"),
    }
    .into_response()
}

impl FromRequestParts<Arc<Host>> for Person {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, host: &Arc<Host>) -> Result<Self, Response> {
        match parts.extensions.remove::<Arc<Self>>().and_then(Arc::into_inner) {
            Some(admitted) => Ok(admitted),
            // A route that needs no session has nobody to give.
            None => Err(failed(host.inbox(), StatusCode::INTERNAL_SERVER_ERROR, "The host failed.")),
        }
    }
}

/// A form that a page of this person's session sent.
pub(super) struct Sent {
    pub(super) person: Person,
    pub(super) form: Form,
}

impl FromRequest<Arc<Host>> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, host: &Arc<Host>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let person = Person::from_request_parts(&mut parts, host).await?;
        let inbox = host.inbox();
        let form = read(inbox, body).await?;
        if !person.secret.is_proven(&form) {
            let text = "The form is not one of this session's. Nothing was done; go back to the page, and load it again.";
            return Err(message_page(inbox, Some(&person), StatusCode::FORBIDDEN, "Not from here", text));
        }
        Ok(Self { person, form })
    }
}

/// The fields of a form that has arrived.
pub(super) async fn read(inbox: &Inbox, body: axum::body::Body) -> Result<Form, Response> {
    let bytes = axum::body::to_bytes(body, Form::LONGEST).await.ok();
    let form = bytes.and_then(|bytes| Form::parse(&bytes));
    form.ok_or_else(|| failed(inbox, StatusCode::BAD_REQUEST, "The form cannot be read. Nothing was done."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cookies: &[&str], expected: &[&str]) {
        let headers = cookies.iter().map(|line| (COOKIE, line.parse().unwrap())).collect();
        let found: Vec<_> = Secret::all_of(&headers, "tether").into_iter().map(|found| found.0).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_cookie_is_one_that_could_be_ours() {
        let [secret, other] = ["0123456789abcdef", "fedcba9876543210"].map(|part| part.repeat(4));
        let ours = format!("tether={secret}");
        check(&[&format!("a=b; {ours};c=d")], &[&secret]);
        check(&["a=b", &ours], &[&secret]);
        check(&[], &[]);
        check(&[&ours, &ours], &[&secret]);
        check(&[&format!("tether=zz; {ours}; tether=")], &[&secret]);
        check(&[&format!("tether={other}; {ours}")], &[&other, &secret]);
        check(&[&format!("__Host-tether={secret}")], &[]);
        check(&[&ours.to_uppercase()], &[]);
        check(&["tether=0123"], &[]);
    }

    #[test]
    fn of_many_cookies_only_some_are_looked_at() {
        let many: Vec<_> = (0..1_000).map(|number| format!("{number:064x}")).collect();
        let line = many.iter().map(|secret| format!("tether={secret}")).collect::<Vec<_>>().join("; ");
        let first: Vec<_> = many[..MOST_COOKIES].iter().map(String::as_str).collect();
        check(&[&line], &first);
        let unlike = ["tether=zz", "tether=", "tether=0123"].join("; ").repeat(1_000);
        let again = line.split_once("; ").unwrap().0;
        check(&[&unlike, &[again; 1_000].join("; "), &line], &first);
    }

    #[test]
    fn a_form_is_proven_by_what_its_session_alone_makes() {
        let [mine, other] = ["a", "b"].map(|digit| Secret(digit.repeat(64)));
        let form = |field: &str| Form::parse(field.as_bytes()).unwrap();
        let proof = format!("csrf={}", mine.proof());
        assert!(mine.is_proven(&form(&proof)));
        assert!(!other.is_proven(&form(&proof)));
        assert!(!mine.is_proven(&form("csrf=")) && !mine.is_proven(&form("")));
        assert!(!mine.is_proven(&form(&proof[..proof.len() - 1])));
        assert!(!proof.contains(mine.as_str()), "a page tells nothing of the cookie");
    }

    #[test]
    fn a_path_names_an_action_or_nothing() {
        let id = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";
        let named = |path: &str| action_of(path).map(|id| id.to_string());
        assert_eq!(named(&format!("/inbox/actions/{id}/confirm")).as_deref(), Some(id));
        assert_eq!(named("/inbox/actions//evil.test"), None);
        assert_eq!(named("/inbox"), None);
    }
}
