//! What surrounds every handler: its panic is an answer, and its end a log line.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::problem::Rejection;
use super::{Host, Route};

/// The handler with its surroundings. The log names the route, never the path:
/// that may hold anything.
pub(super) fn observed(handler: MethodRouter<Arc<Host>>, route: &'static Route) -> MethodRouter<Arc<Host>> {
    handler.layer(from_fn(move |request: Request, next: Next| async move {
        let response = catch(next.run(request)).await;
        let status = response.status().as_u16();
        tracing::debug!(method = %route.method, route = route.path, status, "answered");
        response
    }))
}

/// A panic ends the request and nothing else.
async fn catch(handler: impl Future<Output = Response>) -> Response {
    let mut handler = pin!(handler);
    poll_fn(|context| {
        // The future is never polled again after a panic.
        let polled = catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            tracing::error!("a handler of the API panicked");
            Poll::Ready(Rejection::internal().into_response())
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered() {
        let response = catch(async { panic!("no secret of this message reaches the caller") }).await;
        assert_eq!(response.status(), 500);
    }
}
