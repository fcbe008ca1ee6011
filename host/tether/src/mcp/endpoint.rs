//! `/mcp`: what is asked of it over HTTP.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, options, post};
use rmcp::ErrorData;

use super::arrived::Arrived;
use super::message::{Posted, Unreadable};
use super::question::Mark;
use super::refusal::{error, refused};
use super::stream::{News, Until};
use super::{batch, door};
use crate::http::{BODY_LIMIT, Needs, Route};

/// Where it is.
const PATH: &str = "/mcp";

pub(super) const POST: Route = Route {
    method: Method::POST,
    path: PATH,
    needs: Needs::Mcp,
    handler: || post(posted).fallback(wrong_method),
};
pub(super) const GET: Route =
    Route { method: Method::GET, path: PATH, needs: Needs::Mcp, handler: || get(listened) };
pub(super) const DELETE: Route =
    Route { method: Method::DELETE, path: PATH, needs: Needs::Mcp, handler: || delete(ended) };

pub(super) const PREFLIGHT: Route =
    Route { method: Method::OPTIONS, path: PATH, needs: Needs::Nobody, handler: || options(door::preflight) };

/// What the revisions with sessions send first on a stream that listens: nothing is missed by
/// listening anew.
const LOOK_AGAIN: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";

/// What may be asked of it. Of a stream there is nothing but the stream: no HEAD.
const METHODS: &str = "DELETE, GET, OPTIONS, POST";

async fn wrong_method(method: Method) -> Response {
    ([(ALLOW, METHODS)], crate::http::wrong_method(method).await).into_response()
}

async fn posted(arrived: Arrived, body: Body) -> Response {
    if let Some(wrong) = arrived.headers.unreadable() {
        let wrong = ErrorData::invalid_request(wrong, None);
        return error(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, &wrong);
    }
    let text = match read(body).await {
        Ok(text) => text,
        Err(unreadable) => return refused(unreadable),
    };
    match Posted::read(text) {
        Ok(Posted::One(message)) => arrived.answer(*message).await,
        Ok(Posted::Batch(messages)) => batch::answer(arrived, messages).await,
        Err(unreadable) => refused(unreadable),
    }
}

async fn listened(method: Method, arrived: Arrived) -> Response {
    if method == Method::HEAD {
        return wrong_method(method).await;
    }
    let session = match arrived.session() {
        Ok(session) => session.map(|session| session.id.to_owned()),
        Err(misnamed) => return misnamed.answer(None),
    };
    let mark = session.as_deref().map(Mark::of);
    let answer = arrived.handed_on(Bytes::new(), None, None).await;
    if answer.status() != StatusCode::OK {
        return answer;
    }
    let (mcp, shut_out) = (Arc::clone(&arrived.mcp), arrived.is_shut_out());
    let over = async move {
        let ended = async {
            match session {
                Some(session) => mcp.sessions.ends(&session).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = mcp.shared.closes() => {}
            () = shut_out => {}
            () = ended => {}
        }
    };
    let first = Bytes::from_static(LOOK_AGAIN.as_bytes());
    answer.map(|body| Body::new(News::new(Body::new(Until::new(body, over)), first, mark)))
}

async fn ended(arrived: Arrived) -> Response {
    let session = match arrived.session() {
        Ok(session) => session,
        Err(misnamed) => return misnamed.answer(None),
    };
    let mut answer = arrived.handed_on(Bytes::new(), None, None).await;
    if let Some(session) = session.filter(|_| answer.status().is_success()) {
        arrived.mcp.sessions.ended(session.id);
        // It is over by now; what was only accepted is a failure to some clients.
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    answer
}

async fn read(body: Body) -> Result<String, Unreadable> {
    // It has arrived, and is no longer than that.
    let bytes = axum::body::to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
    String::from_utf8(bytes.into()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Unreadable::Syntax(format!("the body is not UTF-8 at byte {at}"))
    })
}
