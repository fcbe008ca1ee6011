//! Streams that go on for long: those that listen.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::{next, of_session};
use super::question::Mark;

/// A body that ends early.
pub(super) struct Until {
    body: Body,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Until {
    /// What `body` has, until `over` is ready.
    pub(super) fn new(body: Body, over: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { body, over: Box::pin(over) }
    }
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        next(&mut self.body, context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// The stream of a session that listens: what is new.
pub(super) struct News {
    body: Body,
    /// Sent first.
    first: Option<Bytes>,
    mark: Option<Mark>,
}

impl News {
    /// `first`, and then what `body` has, with the mark of its session.
    pub(super) fn new(body: Body, first: Bytes, mark: Option<Mark>) -> Self {
        Self { body, first: Some(first), mark }
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
        loop {
            match ready!(next(&mut self.body, context)) {
                // It belongs to a request whose stream is gone, and never here.
                Some(piece) if is_answer(&piece) => {}
                piece => {
                    let piece = piece.map(|piece| of_session(self.mark.as_ref(), piece));
                    return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
                }
            }
        }
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
    fn an_answer_is_what_has_no_method() {
        assert!(is_answer(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"));
        assert!(!is_answer(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n"));
        assert!(!is_answer(b":\n\n"));
        assert!(!is_answer(b"data: \n\n"));
    }
}
