//! A request that was let in: what surrounds rmcp on the way in and on the way out.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use serde_json::Value;
use tether_core::digest::Digest;
use tether_core::id::IdempotencyKey;
use tether_core::identity::Caller;
use tether_core::json::JsonText;

use super::answer::Answer;
use super::exchange::{Departure, Exchange};
use super::headers::{Headers, REVISION, SESSION};
use super::message::{Kind, Message};
use super::question::Mark;
use super::refusal::{error, full, no_session, starting, worded};
use super::seats::Seat;
use super::stream::Until;
use super::{Mcp, parameters, problem, revision};
use crate::http::{Entered, Host, Needs, Peer, admit, key_header};

/// The methods of the revisions with sessions.
const IN_SESSIONS: [&str; 5] = ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// How often a stream that goes on for long looks whether it still may.
const LOOK: Duration = Duration::from_secs(5);

/// Whoever was let in, at a host that is ready, and what their request says besides its body.
#[derive(Clone)]
pub(super) struct Arrived {
    pub(super) mcp: Arc<Mcp>,
    pub(super) headers: Headers,
    host: Arc<Host>,
    peer: Peer,
    caller: Caller,
    method: Method,
}

/// A session of the caller's that a request names.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    /// What it speaks.
    pub(super) revision: &'static str,
}

/// rmcp's id of what a message of this session answers, where it answers something.
fn asked<'a>(message: &'a Message, session: Option<Named<'_>>) -> Option<&'a str> {
    let Kind::Response(Some(id)) = &message.kind else { return None };
    Mark::of(session?.id).asked(id)
}

/// A request that names a session as it may not: none, somebody else's, or in two ways.
pub(super) struct Misnamed(StatusCode, ErrorData);

impl Misnamed {
    /// What the request with this id is answered.
    pub(super) fn answer(&self, id: Option<&str>) -> Response {
        error(self.0, id, &self.1)
    }
}

impl FromRequestParts<Arc<Host>> for Arrived {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, host: &Arc<Host>) -> Result<Self, Response> {
        let entered = Entered::from_request_parts(parts, host).await.map_err(IntoResponse::into_response)?;
        // It is set before the gateway is.
        let mcp = host.mcp().ok_or_else(|| error(StatusCode::SERVICE_UNAVAILABLE, None, &starting()))?;
        let Ok(peer) = Peer::from_request_parts(parts, host).await;
        let (method, headers) = (parts.method.clone(), Headers(parts.headers.clone()));
        Ok(Self {
            mcp: Arc::clone(mcp),
            headers,
            host: Arc::clone(host),
            peer,
            caller: entered.caller,
            method,
        })
    }
}

impl Arrived {
    /// The session that the request names, if it names one; or why it may not.
    pub(super) fn session(&self) -> Result<Option<Named<'_>>, Misnamed> {
        let refused = |wrong| Misnamed(StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None));
        let unknown = || Misnamed(StatusCode::NOT_FOUND, no_session());
        let revision = self.headers.revision().map_err(refused)?;
        let Some(id) = self.headers.session().map_err(refused)? else { return Ok(None) };
        let spoken = self.mcp.sessions.revision(id, &self.caller).ok_or_else(unknown)?;
        if revision.is_some_and(|revision| revision != spoken) {
            return Err(refused(format!("this session speaks {spoken}; `{REVISION}` says otherwise")));
        }
        Ok(Some(Named { id, revision: spoken }))
    }

    /// Until the request would be let in no more: its token was revoked, or is over.
    pub(super) fn is_shut_out(&self) -> impl Future<Output = ()> + Send + 'static {
        let Self { host, peer, headers, .. } = self.clone();
        async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let mut again = Request::new(Body::empty());
                *again.headers_mut() = headers.0.clone();
                again.extensions_mut().insert(peer);
                if admit(&host, Needs::Mcp, again).await.is_err() {
                    return;
                }
            }
        }
    }

    /// The answer to one message.
    pub(super) async fn answer(&self, message: Message) -> Response {
        let session = match self.session() {
            Ok(session) => session,
            Err(misnamed) => return misnamed.answer(message.id()),
        };
        if let Some((status, wrong)) = self.unfit(&message, session) {
            return error(status, message.id(), &wrong);
        }
        let calls = message.asks_for("tools/call");
        let key = match calls.then(|| self.key(&message, session)).transpose() {
            Ok(key) => key.flatten(),
            Err(wrong) => return error(StatusCode::OK, message.id(), &wrong),
        };
        let seat = match (session, message.id()) {
            (Some(session), Some(id)) => self.mcp.sessions.seats.take(session.id, id).await,
            _ => Seat::free(),
        };
        let (departure, gone) = Departure::new();
        let exchange = Arc::new(Exchange {
            caller: self.caller.clone(),
            arguments: message.arguments.clone().unwrap_or_else(JsonText::empty_object),
            key,
            gone,
            seat,
        });
        let answer = if message.asks_for("initialize") {
            self.begun(&message, Arc::clone(&exchange)).await
        } else {
            let with_arguments =
                calls && message.name.as_deref().is_some_and(|name| self.mcp.has_headers(name));
            let body = match asked(&message, session) {
                Some(id) => message.answering(id),
                None => message.forwarded(with_arguments),
            };
            self.handed_on(body, message.id(), Some(Arc::clone(&exchange))).await
        };
        if message.id().is_none() {
            return answer;
        }
        let listens = message.asks_for("subscriptions/listen");
        answer.map(|body| {
            let body = if listens { Body::new(Until::new(body, self.is_shut_out())) } else { body };
            Body::new(Answer::new(body, exchange, session.map(|session| Mark::of(session.id)), departure))
        })
    }

    /// What is wrong with a message that rmcp would take.
    fn unfit(&self, message: &Message, session: Option<Named<'_>>) -> Option<(StatusCode, ErrorData)> {
        if message.asks_for("initialize") && self.headers.is_stateless() {
            return Some((StatusCode::NOT_FOUND, problem::unknown_method("initialize")));
        }
        if message.asks_for("initialize") && session.is_some() {
            let wrong = "this session has begun; another one begins without `Mcp-Session-Id`";
            return Some((StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None)));
        }
        if matches!(message.kind, Kind::Response(_)) && asked(message, session).is_none() {
            let wrong = "nothing was asked under this `id` in this session";
            return Some((StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None)));
        }
        parameters::wrong(message).or_else(|| {
            let method = message.method.as_deref().filter(|_| session.is_some() && message.id().is_some());
            let unknown = method.filter(|method| !IN_SESSIONS.contains(method))?;
            Some((StatusCode::OK, problem::unknown_method(unknown)))
        })
    }

    /// The answer to a handshake. In a task of its own: a session whose client went away in the
    /// middle is counted as well.
    async fn begun(&self, message: &Message, exchange: Arc<Exchange>) -> Response {
        let (arrived, id) = (self.clone(), message.id().map(str::to_owned));
        let body = message.forwarded(false);
        // What does not say so was refused.
        let revision = revision::of_session(&parameters::revision(message).unwrap_or_default());
        let begun = tokio::spawn(async move {
            let Ok(room) = arrived.mcp.sessions.room(&arrived.caller).await else {
                return full(id.as_deref());
            };
            let answer = arrived.handed_on(body, id.as_deref(), Some(exchange)).await;
            if let Some(session) = answer.headers().get(SESSION).and_then(|session| session.to_str().ok()) {
                room.filled(session, revision);
            }
            answer
        });
        begun.await.unwrap_or_else(|died| {
            tracing::error!(error = %died, "the task of a handshake died");
            error(StatusCode::INTERNAL_SERVER_ERROR, message.id(), &problem::failed())
        })
    }

    /// What rmcp answers. It sees nothing of the request that it does not need.
    pub(super) async fn handed_on(
        &self,
        body: Bytes,
        id: Option<&str>,
        exchange: Option<Arc<Exchange>>,
    ) -> Response {
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.needed();
        if let Some(exchange) = exchange {
            request.extensions_mut().insert(exchange);
        }
        let service = if self.headers.are_of_stdio() { &self.mcp.stdio } else { &self.mcp.http };
        let mut answer = service.handle(request).await.map(Body::new);
        if answer.status().is_client_error() || answer.status().is_server_error() {
            answer = worded(answer, id).await;
        }
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }

    /// The key of a call: of the message, of the header, or what the session and the id make:
    /// an id is used once in a session, so that the same one is the same request.
    fn key(
        &self,
        message: &Message,
        session: Option<Named<'_>>,
    ) -> Result<Option<IdempotencyKey>, ErrorData> {
        let header = key_header(&self.headers.0)
            .map_err(|_| problem::invalid("the `Idempotency-Key` header is no key"))?;
        let own =
            match &message.key {
                None => None,
                Some(Value::String(text)) => Some(text.parse::<IdempotencyKey>().map_err(|error| {
                    problem::invalid(format!("`_meta[\"tether/idempotencyKey\"]`: {error}"))
                })?),
                Some(_) => return Err(problem::invalid("`_meta[\"tether/idempotencyKey\"]` must be a text")),
            };
        if let (Some(own), Some(header)) = (&own, &header)
            && own != header
        {
            return Err(problem::invalid("`_meta` and the `Idempotency-Key` header have two different keys"));
        }
        let of_session = || {
            let text = format!("{}\n{}", session?.id, message.id()?);
            format!("mcp:{}", Digest::of(text).hex()).parse().ok()
        };
        Ok(own.or(header).or_else(of_session))
    }
}
