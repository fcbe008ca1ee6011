//! `POST /v1/actions/{actionId}/confirm`.

use axum::http::Method;
use axum::routing::post;
use tether_core::identity::Role;

use super::auth::ActionPath;
use super::posted::Posted;
use super::problem::Rejection;
use super::reply::{Json, outcome};
use super::{Needs, Route};
use crate::wire;

pub(super) const CONFIRM: Route = Route {
    method: Method::POST,
    path: "/v1/actions/{actionId}/confirm",
    needs: Needs::Bearer(&[Role::Approver]),
    handler: || post(confirm),
};

/// Confirms a write: it runs now, once; or is approved, where it takes more persons
#[utoipa::path(
    post,
    path = "/v1/actions/{actionId}/confirm",
    tag = "actions",
    params(
        ("actionId" = String, Path, description = "The action."),
        ("Idempotency-Key" = Option<String>, Header, description = "The same as `idempotencyKey`."),
    ),
    request_body = wire::ConfirmRequest,
    responses(
        (
            status = 200,
            description = "What it came to; `Pending` without an `errorCode` where it takes more persons.",
            body = wire::Action,
        ),
        (status = 409, description = "Nothing ran for this request.", body = wire::Action),
        (
            status = 410,
            description = "It was done; the result is no longer kept.",
            body = wire::Problem,
            content_type = "application/problem+json",
        ),
    ),
)]
pub(super) async fn confirm(posted: Posted<ActionPath>) -> Result<Json<wire::Action>, Rejection> {
    let Posted { entered, subject: ActionPath(id), key: header, body } = posted;
    let malformed = |error: wire::InvalidBody| Rejection::malformed(error.to_string());
    let request = wire::ConfirmRequest::parse(&body).map_err(malformed)?;
    let key = match (header, request.key().map_err(malformed)?) {
        (Some(header), Some(body)) if header != body => {
            return Err(Rejection::malformed(
                "the `Idempotency-Key` header and `idempotencyKey` differ; send one of them",
            ));
        }
        (header, body) => header.or(body),
    };
    let decided = entered.gateway.confirm(&entered.caller, id, key, request.attempts_used).await?;
    Ok(outcome(&decided))
}
