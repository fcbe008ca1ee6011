//! A request that was let in: what surrounds rmcp on the way in and on the way out.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;
use tether_core::digest::Digest;
use tether_core::id::IdempotencyKey;
use tether_core::identity::Caller;
use tether_core::json::JsonText;
use tether_core::plain::plain;

use super::answer::Answer;
use super::exchange::{Departure, Exchange};
use super::message::{Kind, Message};
use super::refusal::{error, full, starting, worded};
use super::seats::Seat;
use super::{Mcp, parameters, problem, revision, sessions};
use crate::http::{Entered, Host, key_header};

/// Names the revision of the protocol that a request is of.
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Set by `tether mcp`: its client speaks no HTTP, and so repeats nothing in headers.
const STDIO: HeaderName = HeaderName::from_static("tether-stdio");

/// Characters of a method's name that are told again where it is unknown.
pub(super) const LONGEST_METHOD: usize = 100;

/// Whoever was let in, at a host that is ready, and what their request says besides its body.
#[derive(Clone)]
pub(super) struct Arrived {
    pub(super) mcp: Arc<Mcp>,
    caller: Caller,
    method: Method,
    headers: HeaderMap,
}

/// A session of the caller's that a request names.
#[derive(Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    /// What it speaks.
    pub(super) revision: &'static str,
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
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        Ok(Self { mcp: Arc::clone(mcp), caller: entered.caller, method, headers })
    }
}

impl Arrived {
    /// What is answered where the body is none that can be read.
    pub(super) fn unreadable(&self) -> Option<Response> {
        let of = |name: HeaderName| self.headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let kind = of(CONTENT_TYPE).and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        let wrong = if !kind.eq_ignore_ascii_case("application/json") {
            "the body must be JSON: send `Content-Type: application/json`"
        } else if of(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
            "the body must be sent as it is, without a `Content-Encoding`"
        } else {
            return None;
        };
        let wrong = ErrorData::invalid_request(wrong, None);
        Some(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, &wrong))
    }

    /// The revision that the request says that it is of.
    pub(super) fn revision(&self) -> Option<&str> {
        self.headers.get(&REVISION)?.to_str().ok()
    }

    /// Whether that has no sessions.
    fn is_stateless(&self) -> bool {
        self.revision().is_some_and(revision::is_stateless)
    }

    /// The session that the request names, if it names one; or why it may not.
    pub(super) fn session(&self) -> Result<Option<Named<'_>>, Misnamed> {
        let refused = |wrong| Err(Misnamed(StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None)));
        for name in [&SESSION, &REVISION] {
            if self.headers.get_all(name).iter().nth(1).is_some() {
                return refused(format!("there are two `{name}` headers; send one"));
            }
        }
        let Some(id) = self.headers.get(&SESSION) else { return Ok(None) };
        let known = id.to_str().ok().and_then(|id| {
            let revision = self.mcp.sessions.revision(id, &self.caller)?;
            Some(Named { id, revision })
        });
        let named = known.ok_or_else(|| Misnamed(StatusCode::NOT_FOUND, sessions::unknown()))?;
        if self.headers.get(&REVISION).is_some_and(|revision| revision != named.revision) {
            return refused(format!("this session speaks {}; `{REVISION}` says otherwise", named.revision));
        }
        Ok(Some(named))
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
            let body = message.forwarded(with_arguments);
            self.handed_on(body, message.id(), Some(Arc::clone(&exchange))).await
        };
        if message.id().is_none() {
            return answer;
        }
        answer.map(|body| Body::new(Answer::new(body, exchange, departure)))
    }

    /// What is wrong with a message that rmcp would take.
    fn unfit(&self, message: &Message, session: Option<Named<'_>>) -> Option<(StatusCode, ErrorData)> {
        let is_unknown = |method: &str| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None);
        if message.asks_for("initialize") && self.is_stateless() {
            return Some((StatusCode::NOT_FOUND, is_unknown("initialize")));
        }
        if message.asks_for("initialize") && session.is_some() {
            let wrong = "this session has begun; another one begins without `Mcp-Session-Id`";
            return Some((StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None)));
        }
        // Ours are numbers, and rmcp takes a text for one.
        if matches!(&message.kind, Kind::Response(Some(id)) if id.starts_with('"')) {
            let wrong = "nothing was asked under this `id`";
            return Some((StatusCode::BAD_REQUEST, ErrorData::invalid_request(wrong, None)));
        }
        // The extension is one of the revision without sessions.
        let method = message.method.as_deref().filter(|method| method.starts_with("tasks/"));
        if let Some(method) = method.filter(|_| !self.is_stateless()) {
            return Some((StatusCode::OK, is_unknown(&plain(method, LONGEST_METHOD))));
        }
        let wrong = parameters::wrong(message)?;
        // What is no request is answered with a failure of HTTP, or not at all.
        let status = if message.id().is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        Some((status, problem::invalid(wrong)))
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
            let wrong = ErrorData::internal_error("the host failed; its log has the cause", None);
            error(StatusCode::INTERNAL_SERVER_ERROR, message.id(), &wrong)
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
        *request.headers_mut() = needed(&self.headers);
        if let Some(exchange) = exchange {
            request.extensions_mut().insert(exchange);
        }
        let service = if self.headers.contains_key(STDIO) { &self.mcp.stdio } else { &self.mcp.http };
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
        let header = key_header(&self.headers)
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

/// The headers that rmcp reads; no token is among them, and no `Last-Event-ID`: nothing is
/// resumed.
fn needed(headers: &HeaderMap) -> HeaderMap {
    let is_needed =
        |name: &HeaderName| [ACCEPT, CONTENT_TYPE, HOST].contains(name) || name.as_str().starts_with("mcp-");
    let needed = headers.iter().filter(|(name, _)| is_needed(name));
    let mut needed: HeaderMap = needed.map(|(name, value)| (name.clone(), value.clone())).collect();
    if takes_anything(headers) {
        needed.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    needed
}

/// Whether a client takes an answer of any type: it says so, or it says nothing.
fn takes_anything(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    let types = |value: &HeaderValue| {
        let types = value.to_str().unwrap_or_default().split(',');
        types.filter_map(|entry| entry.split(';').next()).any(|entry| entry.trim() == "*/*")
    };
    values.peek().is_none() || values.any(types)
}
