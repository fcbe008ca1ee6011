//! `GET` and `POST /v1/tokens`, `DELETE /v1/tokens/{tokenId}`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, post};
use tether_core::id::{TenantId, TokenId};
use tether_core::identity::Role;

use super::auth::Entered;
use super::posted::Posted;
use super::problem::Rejection;
use super::reply::Json;
use super::{Host, Needs, Route};
use crate::wire;

/// Who makes tokens can act as anybody of the tenant.
const ADMINS: Needs = Needs::Bearer(&[Role::Admin]);

pub(super) const LIST: Route =
    Route { method: Method::GET, path: "/v1/tokens", needs: ADMINS, handler: || get(list) };
pub(super) const CREATE: Route =
    Route { method: Method::POST, path: "/v1/tokens", needs: ADMINS, handler: || post(create) };
pub(super) const REVOKE: Route =
    Route { method: Method::DELETE, path: "/v1/tokens/{tokenId}", needs: ADMINS, handler: || delete(revoke) };

/// Every token, newest first
///
/// The tenant's; with the host's own token, those of all tenants. At most 1,000.
#[utoipa::path(
    get,
    path = "/v1/tokens",
    tag = "tokens",
    params(("tenant" = Option<String>, Query, description = "Only those of this tenant.")),
    responses((status = 200, description = "The tokens, without themselves.", body = wire::TokenList)),
)]
pub(super) async fn list(
    State(host): State<Arc<Host>>,
    entered: Entered,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Json<wire::TokenList>, Rejection> {
    let Query(parameters) = query.map_err(|error| Rejection::malformed(error.body_text()))?;
    let tenant = tenant(parameters).map_err(Rejection::malformed)?;
    let tokens = host.identities().tokens(&entered.caller, tenant).await?;
    let tokens = tokens.into_iter().map(wire::Token::from).collect();
    Ok(Json(StatusCode::OK, wire::TokenList { tokens }))
}

/// Makes a token
///
/// It is told this once; only its digest is kept. A repetition makes another one.
#[utoipa::path(
    post,
    path = "/v1/tokens",
    tag = "tokens",
    request_body = wire::TokenRequest,
    responses((status = 201, description = "The token.", body = wire::NewToken)),
)]
pub(super) async fn create(
    State(host): State<Arc<Host>>,
    posted: Posted<Everything>,
) -> Result<Json<wire::NewToken>, Rejection> {
    let Posted { entered, key, body, .. } = posted;
    if key.is_some() {
        // To take it would be a promise to give the same token again.
        return Err(Rejection::malformed(
            "a token is made anew each time, whatever the `Idempotency-Key`; leave the header out",
        ));
    }
    let wanted = wire::TokenRequest::parse(&body).map_err(|error| Rejection::malformed(error.to_string()))?;
    let made = host.identities().create_token(&entered.caller, wanted).await?;
    Ok(Json(StatusCode::CREATED, wire::NewToken { token: made.secret, known: made.token.into() }))
}

/// Revokes a token
///
/// From the next request on it lets nobody in. What was revoked stays as it was.
#[utoipa::path(
    delete,
    path = "/v1/tokens/{tokenId}",
    tag = "tokens",
    params(("tokenId" = String, Path, description = "The token's name.")),
    responses((status = 200, description = "The token as it is now.", body = wire::Token)),
)]
pub(super) async fn revoke(
    State(host): State<Arc<Host>>,
    entered: Entered,
    TokenPath(id): TokenPath,
) -> Result<Json<wire::Token>, Rejection> {
    let revoked = host.identities().revoke_token(&entered.caller, id).await?;
    let token = revoked.ok_or_else(Rejection::unknown_token)?;
    host.inbox().token_revoked();
    Ok(Json(StatusCode::OK, token.into()))
}

/// The token that the path names.
pub(super) struct TokenPath(TokenId);

impl<S: Send + Sync> FromRequestParts<S> for TokenPath {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        // What cannot be an id names no token.
        path.ok().and_then(|Path(id)| id.parse().ok()).map(Self).ok_or_else(Rejection::unknown_token)
    }
}

/// A path that names nothing.
pub(super) struct Everything;

impl<S: Send + Sync> FromRequestParts<S> for Everything {
    type Rejection = Rejection;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Rejection> {
        Ok(Self)
    }
}

/// An unknown parameter is refused: a misspelled `tenant` would list everything.
fn tenant(parameters: Vec<(String, String)>) -> Result<Option<TenantId>, String> {
    let mut tenant = None;
    for (name, value) in parameters {
        if name != "tenant" {
            return Err(format!("`{name}` is no parameter here; there is tenant"));
        }
        let value = value.parse().map_err(|error| format!("tenant: {error}"))?;
        if tenant.replace(value).is_some() {
            return Err("`tenant` is given twice".to_owned());
        }
    }
    Ok(tenant)
}
