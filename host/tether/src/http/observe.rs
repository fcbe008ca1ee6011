//! What surrounds every handler: who may come in, a panic that is an answer, and a line of
//! the log at the end.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::admit::admit;
use super::problem::Rejection;
use super::{Host, Needs, Route};
use crate::mcp;

/// The handler with its surroundings. The log names the route, never the path:
/// that may hold anything.
pub(super) fn observed(
    handler: MethodRouter<Arc<Host>>,
    route: &'static Route,
    host: &Arc<Host>,
) -> MethodRouter<Arc<Host>> {
    let host = Arc::clone(host);
    // A method that is not for this path is told so, whoever asks.
    handler.route_layer(from_fn(move |request: Request, next: Next| {
        let host = Arc::clone(&host);
        async move {
            let page = (route.needs == Needs::Mcp).then(|| mcp::Page::of(&host, request.headers())).flatten();
            let answer = async {
                match admit(&host, route.needs, request).await {
                    Ok(request) => next.run(request).await,
                    Err(answer) => answer,
                }
            };
            let mut response = catch(answer).await;
            if let Some(page) = page {
                page.may_read(&mut response);
            }
            let status = response.status().as_u16();
            tracing::debug!(method = %route.method, route = route.path, status, "answered");
            response
        }
    }))
}

/// A panic ends the request and nothing else.
async fn catch(handler: impl Future<Output = Response>) -> Response {
    unpanicked(handler).await.unwrap_or_else(|| Rejection::internal().into_response())
}

/// What the future comes to; nothing where it panics, which is logged.
pub(crate) async fn unpanicked<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| {
        // The future is never polled again after a panic.
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.map_or_else(
            |_| {
                tracing::error!("a handler of a request panicked");
                Poll::Ready(None)
            },
            |polled| polled.map(Some),
        )
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
