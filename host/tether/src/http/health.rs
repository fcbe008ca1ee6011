//! `GET /healthz` and `GET /readyz`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::routing::get;

use super::problem::Rejection;
use super::reply::Json;
use super::{Host, Needs, Route};
use crate::wire;

pub(super) const ALIVE: Route =
    Route { method: Method::GET, path: "/healthz", needs: Needs::Nobody, handler: || get(alive) };
pub(super) const READY: Route =
    Route { method: Method::GET, path: "/readyz", needs: Needs::Nobody, handler: || get(ready) };

/// Whether the process is alive
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "health",
    security(()),
    responses((status = 200, description = "Alive.", body = wire::Health)),
)]
pub(super) async fn alive() -> Json<wire::Health> {
    Json(StatusCode::OK, wire::Health::ok())
}

/// Whether components are loaded and recovery is done
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "health",
    security(()),
    responses(
        (status = 200, description = "Ready.", body = wire::Health),
        (status = 503, description = "Not yet.", body = wire::Problem, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn ready(State(host): State<Arc<Host>>) -> Result<Json<wire::Health>, Rejection> {
    host.gateway().ok_or_else(Rejection::starting)?;
    Ok(Json(StatusCode::OK, wire::Health::ok()))
}
