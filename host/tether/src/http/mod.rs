//! The HTTP API: one file for each resource.
//!
//! A resource's file holds its handler, the handler's place in the OpenAPI
//! document, and its `Route`. `ROUTES` is the only list of them: the router
//! is made from it, and a test compares it with the document.

mod actions;
mod admit;
mod auth;
mod body;
mod calls;
mod confirm;
mod decline;
mod health;
mod history;
mod host;
mod observe;
mod openapi;
mod place;
mod posted;
mod problem;
mod reply;
mod serve;
mod stream;
#[cfg(test)]
mod tests;
mod tokens;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::MethodRouter;

use admit::ANYBODY;
pub(crate) use admit::{Needs, Peer, admit};
pub(crate) use auth::{Entered, key_header};
pub(crate) use body::LIMIT as BODY_LIMIT;
pub use host::{Host, HostParts};
pub(crate) use observe::unpanicked;
pub use openapi::document;
pub use place::Origin;
pub(crate) use place::Place;
pub(crate) use problem::{problem_body, status_of};
pub(crate) use reply::{outcome_body, seen, text};
pub use serve::{Patience, serve};

use crate::{inbox, mcp};
use problem::Rejection;

/// One resource's method.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Who may come in.
    pub(crate) needs: Needs,
    pub(crate) handler: fn() -> MethodRouter<Arc<Host>>,
}

/// Everything that is served.
const ROUTES: &[Route] = &[
    health::ALIVE,
    health::READY,
    openapi::DOCUMENT,
    tools::LIST,
    calls::CALL,
    actions::LIST,
    actions::SHOW,
    history::SHOW,
    confirm::CONFIRM,
    decline::DECLINE,
    tokens::LIST,
    tokens::CREATE,
    tokens::REVOKE,
];

/// The API of `host`, where a request's body may take `body_time` to arrive.
fn router(host: Arc<Host>, body_time: Duration) -> Router {
    let mut router = Router::new();
    for route in ROUTES.iter().chain(inbox::ROUTES).chain(mcp::ROUTES) {
        router = router.route(route.path, observe::observed((route.handler)(), route, &host));
    }
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(body_time, body::arrive))
        .with_state(host)
}

pub(crate) async fn unknown_path(uri: Uri) -> Rejection {
    Rejection::unknown_path(uri.path())
}

pub(crate) async fn wrong_method(method: Method) -> Rejection {
    Rejection::wrong_method(&method)
}
