//! `GET /inbox/events`: a stream that says when to look again (server-sent events).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::{Bytes, Frame};
use tether_core::digest::Digest;
use tether_core::id::TenantId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};

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
const BEAT: Duration = Duration::from_secs(15);

async fn events(State(host): State<Arc<Host>>, person: Person) -> Result<Response, Response> {
    let inbox = host.inbox();
    let session = person.secret.digest();
    let Some(place) = inbox.streams.enter(session) else {
        return Err(failed_for_now(inbox, "There are too many live pages. This one is not live."));
    };
    let closing = host.closing();
    let news = inbox.feed.listen(closing.clone()).await.map_err(|error| store_failed(inbox, error))?;
    // A stream that is not read keeps nothing but this behind it.
    let (sender, receiver) = mpsc::channel(16);
    let tenant = person.caller.tenant;
    let stream = Stream { host: Arc::clone(&host), tenant, session, sender, closing };
    tokio::spawn(async move {
        stream.run(news).await;
        drop(place);
    });
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A proxy in front must not gather it.
        (axum::http::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((StatusCode::OK, headers, Body::new(Pieces(receiver))).into_response())
}

struct Stream {
    host: Arc<Host>,
    tenant: TenantId,
    session: Digest,
    sender: mpsc::Sender<Bytes>,
    closing: watch::Receiver<bool>,
}

/// Nobody reads any more, or nobody may.
struct Over;

impl Stream {
    /// Until the browser goes away, the session is over, or the host stops.
    async fn run(self, mut news: broadcast::Receiver<News>) {
        let mut closing = self.closing.clone();
        let Ok(()) = self.look().await else { return };
        let mut beats = tokio::time::interval(BEAT);
        beats.reset();
        loop {
            let said = tokio::select! {
                heard = news.recv() => self.hear(heard).await,
                _ = beats.tick() => self.beat().await,
                () = self.sender.closed() => return,
                () = stops(&mut closing) => return,
            };
            if said.is_err() {
                return;
            }
        }
    }

    async fn hear(&self, heard: Result<News, RecvError>) -> Result<(), Over> {
        match heard {
            Ok(News::Changed { tenant, action, status }) if tenant == self.tenant => {
                self.send(format!("event: changed\ndata: {action} {}\n\n", status.as_str())).await
            }
            Ok(News::SignedOut(session)) if session == self.session => Err(Over),
            Ok(News::Changed { .. } | News::SignedOut(_)) => Ok(()),
            Ok(News::Missed) | Err(RecvError::Lagged(_)) => self.look().await,
            Err(RecvError::Closed) => Err(Over),
        }
    }

    /// Said first, so that whoever comes back has missed nothing.
    async fn look(&self) -> Result<(), Over> {
        self.send("event: look\ndata: again\n\n".to_owned()).await
    }

    async fn beat(&self) -> Result<(), Over> {
        let now = self.host.inbox().now();
        match still_there(&self.host, self.session, now).await {
            Ok(Some(_)) => self.send(": alive\n\n".to_owned()).await,
            Ok(None) | Err(_) => Err(Over),
        }
    }

    /// Waits for a browser that takes nothing, but not beyond the end of the host.
    async fn send(&self, text: String) -> Result<(), Over> {
        let mut closing = self.closing.clone();
        tokio::select! {
            sent = self.sender.send(Bytes::from(text)) => sent.map_err(|_| Over),
            () = stops(&mut closing) => Err(Over),
        }
    }
}

/// The body of an answer, piece by piece.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
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
