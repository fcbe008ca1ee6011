//! `GET /inbox/events`: a stream that says when to look again (server-sent events).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::{Bytes, Frame};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::TenantId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::feed::{News, stops};
use super::person::{LOOKERS, Person, still_there};
use super::{failed_for_now, store_failed};
use crate::http::{Host, Needs, Route};

pub(super) const EVENTS: Route = Route {
    method: Method::GET,
    path: "/inbox/events",
    needs: Needs::Session(LOOKERS),
    handler: || get(events),
};

/// Streams of one session, and of all.
const MOST_OF_ONE: usize = 8;
const MOST: usize = 256;

/// How often a quiet stream says that it is alive, and sees whether its session is.
const BEAT: Duration = Duration::from_secs(5);

async fn events(State(host): State<Arc<Host>>, person: Person) -> Result<Response, Response> {
    let inbox = host.inbox();
    let session = person.secret.digest();
    let Some(place) = inbox.streams.enter(session) else {
        return Err(failed_for_now(inbox, "There are too many live pages. This one is not live."));
    };
    let closing = host.closing();
    let news = inbox.feed.listen(closing.clone()).await.map_err(|error| store_failed(inbox, error))?;
    let tenant = person.caller.tenant;
    let stream =
        Stream { host: Arc::clone(&host), tenant, session, news, closing, ends: None, _place: place };
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A proxy in front must not gather it.
        (axum::http::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((StatusCode::OK, headers, Body::new(Pieces(Some(Box::pin(stream.next()))))).into_response())
}

/// What happens, for one browser. It is asked for piece by piece: where a browser takes
/// nothing, nothing waits to be sent.
struct Stream {
    host: Arc<Host>,
    tenant: TenantId,
    session: Digest,
    news: broadcast::Receiver<News>,
    closing: watch::Receiver<bool>,
    /// How long the session lasts; none before anything is sent.
    ends: Option<Timestamp>,
    _place: Entry,
}

/// What a stream waited for.
enum Heard {
    /// Something to say.
    Words(String),
    /// Somebody's session may be over.
    Ended,
    /// The host stops.
    Stops,
}

impl Stream {
    /// What is sent next, and what comes after it; none once the session is over, or the
    /// host stops.
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            let heard = match self.ends {
                Some(ends) => self.hear(ends).await,
                None => look(),
            };
            // Seen after what is told has happened: nothing is sent of what happened after
            // the end of the session.
            let there = still_there(&self.host, self.session, self.host.inbox().now()).await;
            let (session, _) = there.ok().flatten()?;
            self.ends = Some(session.expires_at);
            match heard {
                Heard::Words(words) => return Some((Bytes::from(words), self)),
                Heard::Ended => {}
                Heard::Stops => return None,
            }
        }
    }

    /// Waits for something to say, not beyond a beat and the end of the session.
    async fn hear(&mut self, ends: Timestamp) -> Heard {
        let left = ends.as_millis().saturating_sub(self.host.inbox().now().as_millis());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let mut quiet = pin!(tokio::time::sleep(left.min(BEAT)));
        loop {
            let news = tokio::select! {
                news = self.news.recv() => news,
                () = &mut quiet => return Heard::Words(": alive\n\n".to_owned()),
                () = stops(&mut self.closing) => return Heard::Stops,
            };
            return match news {
                Ok(News::Changed { tenant, action, status }) if tenant == self.tenant => {
                    Heard::Words(format!("event: changed\ndata: {action} {}\n\n", status.as_str()))
                }
                Ok(News::Changed { .. }) => continue,
                Ok(News::Ended) => Heard::Ended,
                Ok(News::Missed) | Err(RecvError::Lagged(_)) => look(),
                Err(RecvError::Closed) => Heard::Stops,
            };
        }
    }
}

/// Said first, so that whoever comes back has missed nothing; and whenever something may
/// have been missed.
fn look() -> Heard {
    Heard::Words("event: look\ndata: again\n\n".to_owned())
}

type Next = Pin<Box<dyn Future<Output = Option<(Bytes, Stream)>> + Send>>;

/// The body of an answer, piece by piece.
struct Pieces(Option<Next>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(next) = &mut self.0 else { return Poll::Ready(None) };
        let next = ready!(next.as_mut().poll(context));
        Poll::Ready(match next {
            Some((piece, stream)) => {
                self.0 = Some(Box::pin(stream.next()));
                Some(Ok(Frame::data(piece)))
            }
            None => {
                self.0 = None;
                None
            }
        })
    }
}

/// The streams that are open, counted by their sessions.
#[derive(Default)]
pub(super) struct Streams(Arc<Mutex<BTreeMap<Digest, usize>>>);

impl Streams {
    /// None where there is no room.
    fn enter(&self, session: Digest) -> Option<Entry> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = open.values().sum();
        let of_one = open.get(&session).copied().unwrap_or(0);
        if all >= MOST || of_one >= MOST_OF_ONE {
            return None;
        }
        open.insert(session, of_one + 1);
        Some(Entry { streams: Self(Arc::clone(&self.0)), session })
    }
}

/// A stream's place among the open ones, given back when it is dropped.
struct Entry {
    streams: Streams,
    session: Digest,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get_mut(&self.session) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.session)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_has_eight_streams_and_gets_its_place_back() {
        let streams = Streams::default();
        let [mine, other] = ["mine", "other"].map(Digest::of);
        let mut open: Vec<_> = (0..MOST_OF_ONE).map(|_| streams.enter(mine).unwrap()).collect();
        assert!(streams.enter(mine).is_none());
        assert!(streams.enter(other).is_some());
        open.pop();
        assert!(streams.enter(mine).is_some());
    }

    #[test]
    fn all_sessions_have_256_streams_together() {
        let streams = Streams::default();
        let open: Vec<_> = (0..MOST).map(|number| streams.enter(Digest::of(number.to_string()))).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(streams.enter(Digest::of("one more")).is_none());
    }
}
