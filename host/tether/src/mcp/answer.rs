//! The body of an answer on its way out: texts are put in, and whoever waits for it no longer
//! is noticed.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame};

use super::exchange::{Departure, Exchange};
use super::question::Mark;

/// The body of the answer to a request.
pub(super) struct Answer {
    body: Body,
    exchange: Arc<Exchange>,
    /// Of its session.
    mark: Option<Mark>,
    departure: Departure,
}

impl Answer {
    pub(super) fn new(body: Body, exchange: Arc<Exchange>, mark: Option<Mark>, departure: Departure) -> Self {
        Self { body, exchange, mark, departure }
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
            let piece = of_session(self.mark.as_ref(), piece);
            Ok(Frame::data(self.exchange.splices().fill(piece)))
        }))
    }
}

/// The next piece; none at the end, which is also where rmcp's body breaks off.
pub(super) fn next(body: &mut Body, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
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

/// A piece as its client gets it: without the id of an event, and with the mark of the session,
/// where there is one, on what is asked.
pub(super) fn of_session(mark: Option<&Mark>, piece: Bytes) -> Bytes {
    let piece = without_id(piece);
    match mark {
        Some(mark) => mark.put_on(piece),
        None => piece,
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
}
