//! The HTTP API: one file for each resource.
//!
//! A resource's file holds its handler, the handler's place in the OpenAPI
//! document, and its `Route`. `ROUTES` is the only list of them: the router
//! is made from it, and a test compares it with the document.

mod actions;
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
mod posted;
mod problem;
mod reply;
mod serve;
mod stream;
#[cfg(test)]
mod tests;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{Method, Uri};
use axum::routing::MethodRouter;
use tether_core::identity::Role;

pub use host::{Host, HostParts};
pub use openapi::document;
pub use serve::{Patience, serve};

use problem::Rejection;

/// One resource's method.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Who may come in.
    #[expect(dead_code, reason = "handlers still ask for themselves")]
    pub(crate) needs: Needs,
    pub(crate) handler: fn() -> MethodRouter<Arc<Host>>,
}

/// What a request needs before a handler sees it.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "the inbox has no routes yet")]
pub(crate) enum Needs {
    /// Nothing.
    Nobody,
    /// A token, of somebody with one of these roles.
    Bearer(&'static [Role]),
    /// A session, of somebody with one of these roles.
    Session(&'static [Role]),
    /// To come from the form by which one signs in.
    SignIn,
}

/// Any role.
const ANYBODY: &[Role] = &Role::ALL;

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
];

/// The API of `host`, where a request's body may take `body_time` to arrive.
fn router(host: Arc<Host>, body_time: Duration) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, observe::observed((route.handler)(), route));
    }
    router
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(body_time, body::arrive))
        .with_state(host)
}

async fn unknown_path(uri: Uri) -> Rejection {
    Rejection::unknown_path(uri.path())
}

async fn wrong_method(method: Method) -> Rejection {
    Rejection::wrong_method(&method)
}
