//! Several messages in one body, which only the revision 2025-03-26 knows.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame};
use rmcp::ErrorData;
use tokio::task::JoinSet;

use super::arrived::Arrived;
use super::message::{Message, Unreadable};
use super::refusal::{error, refused};
use crate::http::BODY_LIMIT;

/// Messages of one body.
const MOST: usize = 100;

/// The revision that knows them; a request without session and header is of it.
const ITS_REVISION: &str = "2025-03-26";

/// Answers a body that is a list. Its requests run at the same time. The answer begins when all
/// of them have begun theirs, which one whose id another request of the session has does in its
/// turn only; from then on each is answered as soon as it can be. What is no request is handed
/// on before them, since one of them may wait for it; but for what calls one of them off.
pub(super) async fn answer(arrived: Arrived, messages: Vec<Result<Message, Unreadable>>) -> Response {
    let revision = match arrived.session() {
        Ok(Some(session)) => session.revision,
        Ok(None) => arrived.headers.revision().ok().flatten().unwrap_or(ITS_REVISION),
        Err(misnamed) => return misnamed.answer(None),
    };
    if let Some(wrong) = wrong(revision, &messages) {
        return error(StatusCode::BAD_REQUEST, None, &ErrorData::invalid_request(wrong, None));
    }
    let mut bodies = Vec::new();
    for messages in in_turn(&arrived, messages) {
        let mut answers = JoinSet::new();
        for message in messages {
            answers.spawn(one(arrived.clone(), message));
        }
        while let Some(answer) = answers.join_next().await {
            // A task that panicked has no answer to give.
            bodies.extend(answer.ok().flatten());
        }
    }
    if bodies.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::OK, headers, Body::new(Together(bodies))).into_response()
}

/// What is handed on first, what then, and what last.
fn in_turn(
    arrived: &Arrived,
    messages: Vec<Result<Message, Unreadable>>,
) -> [Vec<Result<Message, Unreadable>>; 3] {
    let session = arrived.session().ok().flatten();
    // One that is open already is not one of the list that has its id as well.
    let is_open =
        |id: &str| session.is_some_and(|session| arrived.mcp.sessions.seats.is_taken(session.id, id));
    let ids = messages.iter().flatten().filter_map(Message::id);
    let begun: HashSet<_> = ids.filter(|id| !is_open(id)).map(str::to_owned).collect();
    let mut turns = [Vec::new(), Vec::new(), Vec::new()];
    for message in messages {
        let turn = match &message {
            Ok(message) if message.id().is_none() => {
                if message.called_off().is_some_and(|id| begun.contains(&id)) { 2 } else { 0 }
            }
            _ => 1,
        };
        turns[turn].push(message);
    }
    turns
}

/// The answer to one of the list, as events; none where it is only accepted.
async fn one(arrived: Arrived, message: Result<Message, Unreadable>) -> Option<Body> {
    let answer = match message {
        Ok(message) if message.asks_for("initialize") => {
            let wrong = ErrorData::invalid_request("`initialize` is sent alone", None);
            error(StatusCode::BAD_REQUEST, message.id(), &wrong)
        }
        Ok(message) => arrived.answer(message).await,
        Err(unreadable) => refused(unreadable),
    };
    match answer.status() {
        StatusCode::ACCEPTED => None,
        _ => Some(as_events(answer).await),
    }
}

/// What is wrong with the list as a whole.
fn wrong(revision: &str, messages: &[Result<Message, Unreadable>]) -> Option<&'static str> {
    if revision != ITS_REVISION {
        return Some("a body holds one message in this revision");
    }
    if messages.is_empty() {
        return Some("the list holds no message");
    }
    if messages.len() > MOST {
        return Some("a list holds at most 100 messages");
    }
    // The second would wait for the first to be answered, which goes out with the whole.
    let mut ids = HashSet::new();
    let twice = messages.iter().flatten().filter_map(Message::id).any(|id| !ids.insert(id));
    twice.then_some("two requests of the list have the same id")
}

/// The body as events: what is one message becomes one.
async fn as_events(answer: Response) -> Body {
    let is_stream = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    let body = answer.into_body();
    if is_stream {
        return body;
    }
    let message = axum::body::to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
    Body::from([b"data: ", &*message, b"\n\n"].concat())
}

/// Several streams of events as one. An event is one piece, so that none is torn.
struct Together(Vec<Body>);

impl HttpBody for Together {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut at = 0;
        while let Some(body) = self.0.get_mut(at) {
            match Pin::new(body).poll_frame(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Some(Ok(frame))) => return Poll::Ready(Some(Ok(frame))),
                Poll::Ready(Some(Err(_)) | None) => drop(self.0.swap_remove(at)),
            }
        }
        if self.0.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}
