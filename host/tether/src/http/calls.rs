//! `POST /v1/tools/{name}/calls`.

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tether_core::identity::Role;
use tether_gateway::Called;

use super::auth::ToolPath;
use super::posted::Posted;
use super::problem::Rejection;
use super::reply::{Json, seen};
use super::{Needs, Route};
use crate::wire;

pub(super) const CALL: Route = Route {
    method: Method::POST,
    path: "/v1/tools/{name}/calls",
    needs: Needs::Bearer(&[Role::Agent]),
    handler: || post(call),
};

/// Runs a read, or proposes a write
#[utoipa::path(
    post,
    path = "/v1/tools/{name}/calls",
    tag = "tools",
    params(
        ("name" = String, Path, description = "The tool."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes a proposal repeatable."),
    ),
    request_body = wire::CallRequest,
    responses(
        (status = 200, description = "A read: its answer.", body = wire::ReadAnswer),
        (status = 202, description = "A write: the action that now waits for a person.", body = wire::Action),
    ),
)]
pub(super) async fn call(posted: Posted<ToolPath>) -> Result<Response, Rejection> {
    let Posted { entered, subject: ToolPath(name), key, body } = posted;
    let arguments =
        wire::CallRequest::arguments(&body).map_err(|error| Rejection::malformed(error.to_string()))?;
    Ok(match entered.gateway.call(&entered.caller, &name, arguments, key).await? {
        Called::Answer(answer) => Json(StatusCode::OK, wire::ReadAnswer::from(answer)).into_response(),
        Called::Proposed(action) => Json(StatusCode::ACCEPTED, seen(&action)).into_response(),
    })
}
