//! `GET /v1/actions/{actionId}/history`.

use axum::http::{Method, StatusCode};
use axum::routing::get;

use super::auth::{ActionPath, Entered};
use super::problem::Rejection;
use super::reply::Json;
use super::{ANYBODY, Needs, Route};
use crate::wire;

pub(super) const SHOW: Route = Route {
    method: Method::GET,
    path: "/v1/actions/{actionId}/history",
    needs: Needs::Bearer(ANYBODY),
    handler: || get(show_history),
};

/// What happened to an action, oldest first
#[utoipa::path(
    get,
    path = "/v1/actions/{actionId}/history",
    tag = "actions",
    params(("actionId" = String, Path, description = "The action.")),
    responses((status = 200, description = "Its transitions.", body = wire::History)),
)]
pub(super) async fn show_history(
    entered: Entered,
    ActionPath(id): ActionPath,
) -> Result<Json<wire::History>, Rejection> {
    let events = entered.gateway.history(&entered.caller, id).await?;
    Ok(Json(StatusCode::OK, events.into()))
}
