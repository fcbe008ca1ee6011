//! Signing in, with a token, and out.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::header::{SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::ActionId;
use tether_core::port::actions::StoreError;
use tether_core::port::sessions::Session;

use super::page::{Page, alert};
use super::person::{LOOKERS, Secret, Sent, read, signed_in, to_sign_in, turned_away};
use super::{Inbox, failed, store_failed};
use crate::http::{Host, Needs, Peer, Route};
use crate::identity::{Denied, Known};

pub(super) const FORM: Route =
    Route { method: Method::GET, path: "/inbox/sign-in", needs: Needs::SignIn, handler: || get(form) };
pub(super) const SIGN_IN: Route =
    Route { method: Method::POST, path: "/inbox/sign-in", needs: Needs::SignIn, handler: || post(sign_in) };
pub(super) const SIGN_OUT: Route = Route {
    method: Method::POST,
    path: "/inbox/sign-out",
    needs: Needs::Session(LOOKERS),
    handler: || post(sign_out),
};

async fn form(
    State(host): State<Arc<Host>>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, _) = request.into_parts();
    let inbox = host.inbox();
    if let Some(answer) = turned_away(inbox, &parts) {
        return Ok(answer);
    }
    let query = query.map(|Query(query)| query).unwrap_or_default();
    let action = query.iter().find(|(name, _)| name == "action").and_then(|(_, id)| id.parse().ok());
    if signed_in(&host, &parts.headers).await?.is_some() {
        return Ok(Redirect::to(&start(action)).into_response());
    }
    Ok(page(inbox, StatusCode::OK, action, None))
}

/// What somebody who wants in sent.
struct Asking {
    token: String,
    action: Option<ActionId>,
    parts: Parts,
}

impl FromRequest<Arc<Host>> for Asking {
    type Rejection = Response;

    async fn from_request(request: Request, host: &Arc<Host>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        if let Some(answer) = turned_away(host.inbox(), &parts) {
            return Err(answer);
        }
        let form = read(host.inbox(), body).await?;
        let token = form.field("token").unwrap_or_default().trim().to_owned();
        Ok(Self { token, action: form.field("action").and_then(|id| id.parse().ok()), parts })
    }
}

async fn sign_in(
    State(host): State<Arc<Host>>,
    Peer(peer): Peer,
    asking: Asking,
) -> Result<Response, Response> {
    let (inbox, action) = (host.inbox(), asking.action);
    let known = match host.identities().identify(&asking.token, peer).await {
        Ok(known) => known,
        Err(Denied::Unknown) => {
            let text = "This token lets nobody in here.";
            let mut response = page(inbox, StatusCode::UNAUTHORIZED, action, Some(text));
            let realm = HeaderValue::from_static("Bearer realm=\"tether\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, realm);
            return Ok(response);
        }
        Err(Denied::Slowed { retry_after }) => {
            let text = "Too many tokens were wrong. This one was not looked at; try again in a moment.";
            let mut response = page(inbox, StatusCode::SERVICE_UNAVAILABLE, action, Some(text));
            let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
            response.headers_mut().insert(axum::http::header::RETRY_AFTER, HeaderValue::from(seconds));
            return Ok(response);
        }
        Err(Denied::Store(error)) => return Err(store_failed(inbox, error)),
    };
    if !LOOKERS.iter().any(|role| known.caller.is(*role)) {
        let text = "This token may not see the inbox: that takes the role approver or admin.";
        return Ok(page(inbox, StatusCode::FORBIDDEN, action, Some(text)));
    }
    let (secret, seconds) = open(inbox, known).await?;
    for before in Secret::all_of(&asking.parts.headers, inbox.cookie_name()) {
        close_if_there(inbox, before.digest()).await.map_err(|error| store_failed(inbox, error))?;
    }
    Ok(with_cookie(inbox, secret.as_str(), seconds, Redirect::to(&start(action))))
}

/// A session of its own for every sign-in: nobody can have known its cookie before. With
/// the seconds that it lasts.
async fn open(inbox: &Inbox, known: Known) -> Result<(Secret, i64), Response> {
    let Known { caller, credential, expires_at } = known;
    let secret = Secret::fresh().map_err(|error| {
        tracing::error!(%error, "there are no random numbers for a session");
        failed(inbox, StatusCode::INTERNAL_SERVER_ERROR, "The host failed; its log has the cause.")
    })?;
    let now = inbox.now();
    let session_end = now.after(inbox.session_time);
    let expires_at = expires_at.map_or(session_end, |end| end.min(session_end));
    let session = Session {
        tenant: caller.tenant,
        user: caller.user,
        roles: caller.roles,
        credential,
        created_at: now,
        expires_at,
    };
    make_room_and_open(inbox, secret.digest(), session, now)
        .await
        .map_err(|error| store_failed(inbox, error))?;
    Ok((secret, expires_at.as_millis().saturating_sub(now.as_millis()) / 1000))
}

/// The session is there from now on, and none that is over, or one too many for its user.
async fn make_room_and_open(
    inbox: &Inbox,
    digest: Digest,
    session: Session,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (tenant, user, ends) = (session.tenant.clone(), session.user.clone(), session.expires_at);
    inbox.sessions.prune(now).await?;
    inbox.uses.prune(now);
    inbox.sessions.open(digest, session).await?;
    inbox.uses.note(digest, ends);
    for surplus in inbox.uses.surplus(inbox.sessions.of(tenant, user).await?) {
        inbox.close(surplus).await?;
    }
    Ok(())
}

/// What somebody else set under the name of our cookie costs no write, and no look at the streams.
async fn close_if_there(inbox: &Inbox, digest: Digest) -> Result<(), StoreError> {
    match inbox.sessions.find(digest).await? {
        Some(_) => inbox.close(digest).await,
        None => Ok(()),
    }
}

async fn sign_out(State(host): State<Arc<Host>>, sent: Sent) -> Result<Response, Response> {
    let inbox = host.inbox();
    inbox.close(sent.person.secret.digest()).await.map_err(|error| store_failed(inbox, error))?;
    Ok(with_cookie(inbox, "", 0, to_sign_in(None)))
}

/// The same with a cookie that lives for so many seconds.
fn with_cookie(inbox: &Inbox, value: &str, seconds: i64, response: impl IntoResponse) -> Response {
    let name = inbox.cookie_name();
    let secure = if inbox.place.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut response = response.into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Where somebody begins who has just come in.
fn start(action: Option<ActionId>) -> String {
    action.map_or_else(|| "/inbox".to_owned(), |action| format!("/inbox/actions/{action}"))
}

fn page(inbox: &Inbox, status: StatusCode, action: Option<ActionId>, wrong: Option<&str>) -> Response {
    let main = fields(action, wrong);
    let (title, now) = ("Sign in", inbox.now());
    Page { status, retry_after: None, title, person: None, list: None, main, now }.into_response()
}

fn fields(action: Option<ActionId>, wrong: Option<&str>) -> Markup {
    html! {
        main #main.narrow {
            h1 { "Sign in" }
            p.lead { "Here people decide what agents may do. Sign in with a token of this gateway." }
            @if let Some(wrong) = wrong { div #wrong { (alert(wrong)) } }
            form method="post" action="/inbox/sign-in" {
                @if let Some(action) = action { input type="hidden" name="action" value=(action); }
                // By this name a password manager keeps the token; it is not sent.
                input type="text" autocomplete="username" value="Tether" hidden;
                div {
                    label for="token" { "Token" }
                    p.quiet #token-hint { "It takes the role approver or admin. It is not kept, and in no log." }
                    input #token type="password" name="token" required autofocus autocomplete="current-password"
                        spellcheck="false" aria-invalid=[wrong.map(|_| "true")]
                        aria-describedby=(if wrong.is_some() { "wrong token-hint" } else { "token-hint" });
                }
                button.first { "Sign in" }
            }
        }
    }
}
