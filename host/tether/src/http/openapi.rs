//! `GET /openapi.json`: the API, described for programs.

use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use super::{Needs, Route};
use super::{actions, calls, confirm, decline, health, history, tokens, tools};
use crate::wire;

pub(super) const DOCUMENT: Route = Route {
    method: Method::GET,
    path: "/openapi.json",
    needs: Needs::Nobody,
    handler: || get(show_document),
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Tether", description = "A tool host that does a confirmed write once."),
    paths(
        health::alive,
        health::ready,
        show_document,
        tools::list,
        calls::call,
        actions::list,
        actions::show,
        history::show_history,
        confirm::confirm,
        decline::decline,
        tokens::list,
        tokens::create,
        tokens::revoke,
    ),
    components(schemas(wire::Problem)),
    modifiers(&EveryOperation),
)]
struct Api;

/// What holds for every operation, said once.
struct EveryOperation;

impl Modify for EveryOperation {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let components = api.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", scheme);
        let token = SecurityRequirement::new("token", [] as [&str; 0]);
        for item in api.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                // Those that need no token say so themselves.
                if operation.security.is_none() {
                    operation.security = Some(vec![token.clone()]);
                    answer_with_problems(operation);
                }
            }
        }
    }
}

fn answer_with_problems(operation: &mut Operation) {
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    let response = ResponseBuilder::new()
        .description("Why there is no result.")
        .content("application/problem+json", problem)
        .build();
    operation.responses.responses.insert("default".to_owned(), response.into());
}

/// The document as JSON.
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| super::reply::text(&Api::openapi()));
    &DOCUMENT
}

/// This document
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "health",
    security(()),
    responses((status = 200, description = "OpenAPI 3.1.", body = Object)),
)]
pub(super) async fn show_document() -> Response {
    let mut response = document().into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
