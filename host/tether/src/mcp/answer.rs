//! The body of an answer on its way out: texts are put in, and whoever waits for it no longer
//! is noticed.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::exchange::{Departure, Exchange};

/// The body of the answer to a request.
pub(super) struct Answer {
    body: Body,
    exchange: Arc<Exchange>,
    departure: Departure,
}

impl Answer {
    pub(super) fn new(body: Body, exchange: Arc<Exchange>, departure: Departure) -> Self {
        Self { body, exchange, departure }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = ready!(next(&mut self.body, context));
        if piece.is_none() {
            self.departure.arrived();
        }
        Poll::Ready(piece.map(|piece| {
            let filled = self.exchange.splices().fill(without_id(piece));
            Ok(Frame::data(filled))
        }))
    }
}

/// The stream of a session that listens: what is new, until the host stops.
pub(super) struct News {
    body: Body,
    /// Sent first.
    first: Option<Bytes>,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl News {
    /// `first`, and then what `body` has, until `closing` is ready.
    pub(super) fn new(body: Body, first: Bytes, closing: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { body, first: Some(first), closing: Box::pin(closing) }
    }
}

impl HttpBody for News {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if self.closing.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        loop {
            match ready!(next(&mut self.body, context)) {
                // It belongs to a request whose stream is gone, and never here.
                Some(piece) if is_answer(&piece) => {}
                piece => return Poll::Ready(piece.map(|piece| Ok(Frame::data(without_id(piece))))),
            }
        }
    }
}

/// The next piece; none at the end, which is also where rmcp's body breaks off.
fn next(body: &mut Body, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
    loop {
        match ready!(Pin::new(&mut *body).poll_frame(context)) {
            Some(Ok(frame)) => {
                if let Ok(piece) = frame.into_data() {
                    return Poll::Ready(Some(piece));
                }
            }
            Some(Err(_)) | None => return Poll::Ready(None),
        }
    }
}

/// An event without its id: a client that saw one would ask to resume after it, and nothing
/// is resumed. An event is one piece, and its id follows the one line of its data.
fn without_id(piece: Bytes) -> Bytes {
    if !piece.starts_with(b"data: ") {
        return piece;
    }
    match piece.iter().position(|byte| *byte == b'\n') {
        Some(end) if piece[end + 1..].starts_with(b"id: ") => [&piece[..=end], b"\n"].concat().into(),
        _ => piece,
    }
}

/// Whether an event is the answer to a request.
fn is_answer(piece: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: Option<IgnoredAny>,
    }
    let Some(data) = piece.strip_prefix(b"data: ") else { return false };
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(line).is_ok_and(|message: Message| message.method.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_loses_its_id_and_nothing_else() {
        let check = |piece: &'static str, expected: &str| {
            assert_eq!(without_id(Bytes::from_static(piece.as_bytes())), expected);
        };
        check("data: {\"id\":1}\nid: 0/3\n\n", "data: {\"id\":1}\n\n");
        check("data: {}\n\n", "data: {}\n\n");
        check(":\n\n", ":\n\n");
        check("{\"a\":\"\\nid: \"}", "{\"a\":\"\\nid: \"}");
    }

    #[test]
    fn an_answer_is_what_has_no_method() {
        assert!(is_answer(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"));
        assert!(!is_answer(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n"));
        assert!(!is_answer(b":\n\n"));
        assert!(!is_answer(b"data: \n\n"));
    }
}
