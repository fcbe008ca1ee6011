//! Answers that are results.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tether_core::action::Action;
use tether_gateway::{Outcome, Told, failure_of};

use crate::wire;

/// A body of JSON with a status.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) StatusCode, pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let Self(status, body) = self;
        let mut response = (status, text(&body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // Answers hold a tenant's data and are true for a moment only.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// # Panics
///
/// Never: wire types have string keys, and stored text was checked.
pub(crate) fn text(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("a wire type is JSON")
}

/// An action that is only looked at.
pub(crate) fn seen(action: &Action) -> wire::Action {
    wire::Viewed { action, status: action.state.status().into(), error: failure_of(action) }.into()
}

/// What a decision came to.
pub(super) fn outcome(outcome: &Outcome) -> Json<wire::Action> {
    let (code, body) = coded(outcome);
    Json(code, body)
}

/// The same without the status of HTTP.
pub(crate) fn outcome_body(outcome: &Outcome) -> wire::Action {
    coded(outcome).1
}

fn coded(outcome: &Outcome) -> (StatusCode, wire::Action) {
    let (code, status) = match outcome.told {
        Told::Succeeded => (StatusCode::OK, wire::Status::Succeeded),
        Told::Approved => (StatusCode::OK, wire::Status::Pending),
        Told::Replayed => (StatusCode::OK, wire::Status::Replayed),
        Told::FailedRetryable => (StatusCode::OK, wire::Status::FailedRetryable),
        Told::Failed => (StatusCode::OK, wire::Status::Failed),
        Told::Declined => (StatusCode::OK, wire::Status::Declined),
        Told::Conflict(_) => (StatusCode::CONFLICT, wire::Status::Conflict),
    };
    (code, wire::Viewed { action: &outcome.action, status, error: outcome.error() }.into())
}
