//! `POST /v1/actions/{actionId}/decline`.

use axum::http::Method;
use axum::routing::post;
use tether_core::identity::Role;

use super::auth::ActionPath;
use super::posted::Posted;
use super::problem::Rejection;
use super::reply::{Json, outcome};
use super::{Needs, Route};
use crate::wire;

pub(super) const DECLINE: Route = Route {
    method: Method::POST,
    path: "/v1/actions/{actionId}/decline",
    needs: Needs::Bearer(&[Role::Approver]),
    handler: || post(decline),
};

/// Declines a write: it never runs
#[utoipa::path(
    post,
    path = "/v1/actions/{actionId}/decline",
    tag = "actions",
    params(("actionId" = String, Path, description = "The action.")),
    request_body = wire::DeclineRequest,
    responses(
        (status = 200, description = "It is declined, now or before.", body = wire::Action),
        (status = 409, description = "Too late.", body = wire::Action),
    ),
)]
pub(super) async fn decline(posted: Posted<ActionPath>) -> Result<Json<wire::Action>, Rejection> {
    // A decline can be repeated as it is: it needs no key.
    let Posted { entered, subject: ActionPath(id), key: _, body } = posted;
    let request =
        wire::DeclineRequest::parse(&body).map_err(|error| Rejection::malformed(error.to_string()))?;
    let decided = entered.gateway.decline(&entered.caller, id, request.reason).await?;
    Ok(outcome(&decided))
}
