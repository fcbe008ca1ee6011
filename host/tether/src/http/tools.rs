//! `GET /v1/tools`.

use axum::http::{Method, StatusCode};
use axum::routing::get;
use tether_core::identity::Role;

use super::auth::Entered;
use super::problem::Rejection;
use super::reply::Json;
use super::{Needs, Route};
use crate::wire;

pub(super) const LIST: Route = Route {
    method: Method::GET,
    path: "/v1/tools",
    needs: Needs::Bearer(&[Role::Agent, Role::Admin]),
    handler: || get(list),
};

/// Every tool that can be called
#[utoipa::path(
    get,
    path = "/v1/tools",
    tag = "tools",
    responses((status = 200, description = "The tools, by name.", body = wire::ToolList)),
)]
pub(super) async fn list(entered: Entered) -> Result<Json<wire::ToolList>, Rejection> {
    let offers = entered.gateway.offers(&entered.caller)?;
    let tools = offers.iter().map(|offer| wire::Tool::from(&**offer)).collect();
    Ok(Json(StatusCode::OK, wire::ToolList { tools }))
}
