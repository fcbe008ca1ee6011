//! Who may come in: decided here, for every route, before its handler sees anything.
//!
//! A handler finds the caller in the request, and there is none in a request that did not
//! pass here. A cookie opens nothing of the API, so that no page of anybody's can call it;
//! a token opens nothing of the inbox.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use tether_core::identity::{Caller, Role};
use tether_core::problem::{Code, Problem};
use tether_gateway::store_problem;

use super::Host;
use super::problem::Rejection;
use crate::identity::Denied;
use crate::{inbox, mcp};

/// What a request needs before a handler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nobody,
    /// A token, of somebody with one of these roles.
    Bearer(&'static [Role]),
    /// A session, of somebody with one of these roles.
    Session(&'static [Role]),
    /// Nothing but to be meant for the inbox: it is how one signs in.
    SignIn,
    /// A token of somebody with the role of an agent, and nothing that points to a page of
    /// somebody else's.
    Mcp,
}

/// Any role.
pub(super) const ANYBODY: &[Role] = &Role::ALL;

/// Whoever was let in.
#[derive(Clone)]
pub(super) struct Admitted(pub(super) Caller);

/// From where a request comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Where nobody said so, all are one.
        Ok(parts.extensions.get().copied().unwrap_or(Self(Ipv4Addr::UNSPECIFIED.into())))
    }
}

/// The request, if it may go on; else what is answered.
pub(crate) async fn admit(host: &Arc<Host>, needs: Needs, request: Request) -> Result<Request, Response> {
    let (mut parts, body) = request.into_parts();
    let Ok(Peer(socket)) = Peer::from_request_parts(&mut parts, host).await;
    let peer = host.identities().client(socket, &parts.headers);
    parts.extensions.insert(Peer(peer));
    match needs {
        Needs::Nobody | Needs::SignIn => {}
        Needs::Bearer(roles) => {
            let caller = by_token(host, &parts.headers, peer, roles).await;
            parts.extensions.insert(Admitted(caller.map_err(IntoResponse::into_response)?));
        }
        Needs::Mcp => {
            if let Some(answer) = mcp::turned_away(host, &parts.headers) {
                return Err(answer);
            }
            let caller = by_token(host, &parts.headers, peer, &[Role::Agent]).await;
            let caller = caller
                .map_err(|rejection| mcp::challenged(host, &parts.headers, rejection.into_response()))?;
            parts.extensions.insert(Admitted(mcp::narrowed(caller)));
        }
        Needs::Session(roles) => {
            let person = inbox::admit(host, &parts, roles).await?;
            parts.extensions.insert(Arc::new(person));
        }
    }
    Ok(Request::from_parts(parts, body))
}

async fn by_token(
    host: &Host,
    headers: &HeaderMap,
    peer: IpAddr,
    roles: &[Role],
) -> Result<Caller, Rejection> {
    let token = bearer(headers).ok_or_else(Rejection::unauthenticated)?;
    let known = host.identities().identify(token, peer).await.map_err(|denied| match denied {
        Denied::Unknown => Rejection::unauthenticated(),
        Denied::Slowed { retry_after } => Rejection::slowed_down(retry_after),
        Denied::Store(error) => store_problem(error).into(),
    })?;
    if roles.iter().any(|role| known.caller.is(*role)) {
        return Ok(known.caller);
    }
    let names: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
    let detail = format!("this takes a token with the role {}", names.join(" or "));
    Err(Problem::new(Code::Forbidden, detail).into())
}

/// The token of the one `Authorization: Bearer TOKEN`; the scheme is written in any case.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let header = values.next().filter(|_| values.next().is_none())?;
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_token_and_its_scheme_is_written_in_any_case() {
        let check = |headers: &[&str], token: Option<&str>| {
            let headers: HeaderMap =
                headers.iter().map(|value| (AUTHORIZATION, value.parse().unwrap())).collect();
            assert_eq!(bearer(&headers), token);
        };
        check(&["Bearer abc"], Some("abc"));
        check(&["bearer  abc"], Some("abc"));
        check(&["Basic abc"], None);
        check(&["abc"], None);
        check(&[], None);
        check(&["Bearer abc", "Bearer abc"], None);
    }
}
