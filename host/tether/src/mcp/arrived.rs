//! A request that was let in: what surrounds rmcp on the way in and on the way out.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HOST};
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
use super::message::Message;
use super::refusal::{error, starting, worded};
use super::seats::Seat;
use super::{Mcp, parameters, problem, revision, sessions};
use crate::http::{Entered, Host, key_header};

/// Names the revision of the protocol that a request is of.
pub(super) const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

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
    pub(super) headers: HeaderMap,
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
        let kind = self.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let wrong = (!kind.eq_ignore_ascii_case("application/json"))
            .then_some("the body must be JSON: send `Content-Type: application/json`")?;
        let wrong = ErrorData::invalid_request(wrong, None);
        Some(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, &wrong))
    }

    /// Whether the request says that it is of a revision without sessions.
    fn is_stateless(&self) -> bool {
        let revision = self.headers.get(REVISION).and_then(|revision| revision.to_str().ok());
        revision.is_some_and(revision::is_stateless)
    }

    /// The session that the request names, if it names one.
    pub(super) fn session(&self) -> Option<&str> {
        self.headers.get(SESSION).and_then(|session| session.to_str().ok())
    }

    /// What is answered where the request names a session that is none, or somebody else's.
    pub(super) fn of_no_session(&self, id: Option<&str>) -> Option<Response> {
        let named = self.headers.contains_key(SESSION);
        let theirs = self.session().is_some_and(|session| self.mcp.sessions.is_of(session, &self.caller));
        (named && !theirs).then(|| error(StatusCode::NOT_FOUND, id, &sessions::unknown()))
    }

    /// The answer to one message.
    pub(super) async fn answer(&self, message: Message) -> Response {
        if let Some(answer) = self.of_no_session(message.id()) {
            return answer;
        }
        if let Some((status, wrong)) = self.unfit(&message) {
            return error(status, message.id(), &wrong);
        }
        let calls = message.asks_for("tools/call");
        let key = match calls.then(|| self.key(&message)).transpose() {
            Ok(key) => key.flatten(),
            Err(wrong) => return error(StatusCode::OK, message.id(), &wrong),
        };
        let seat = match (self.session(), message.id()) {
            (Some(session), Some(id)) => self.mcp.sessions.seats.take(session, id).await,
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
        let with_arguments = calls && message.name.as_deref().is_some_and(|name| self.mcp.has_headers(name));
        let body = message.forwarded(with_arguments);
        let answer = if message.asks_for("initialize") {
            self.begun(body, message.id(), Arc::clone(&exchange)).await
        } else {
            self.handed_on(body, message.id(), Some(Arc::clone(&exchange))).await
        };
        if message.id().is_none() {
            return answer;
        }
        answer.map(|body| Body::new(Answer::new(body, exchange, departure)))
    }

    /// What is wrong with a message that rmcp would take.
    fn unfit(&self, message: &Message) -> Option<(StatusCode, ErrorData)> {
        let is_unknown = |method: &str| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None);
        if message.asks_for("initialize") && self.is_stateless() {
            return Some((StatusCode::NOT_FOUND, is_unknown("initialize")));
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
    async fn begun(&self, body: Bytes, id: Option<&str>, exchange: Arc<Exchange>) -> Response {
        let (arrived, own_id) = (self.clone(), id.map(str::to_owned));
        let begun = tokio::spawn(async move {
            let answer = arrived.handed_on(body, own_id.as_deref(), Some(exchange)).await;
            if let Some(session) = answer.headers().get(SESSION).and_then(|session| session.to_str().ok()) {
                arrived.mcp.sessions.opened(session, &arrived.caller).await;
            }
            answer
        });
        begun.await.unwrap_or_else(|died| {
            tracing::error!(error = %died, "the task of a handshake died");
            let wrong = ErrorData::internal_error("the host failed; its log has the cause", None);
            error(StatusCode::INTERNAL_SERVER_ERROR, id, &wrong)
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
    fn key(&self, message: &Message) -> Result<Option<IdempotencyKey>, ErrorData> {
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
            let text = format!("{}\n{}", self.session()?, message.id()?);
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
    needed.map(|(name, value)| (name.clone(), value.clone())).collect()
}
