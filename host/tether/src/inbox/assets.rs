//! What the pages are dressed in: one style sheet, one script, both in the binary.

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tether_core::digest::Digest;

use crate::http::{Needs, Route};

pub(super) const STYLE: Route = Route {
    method: Method::GET,
    path: "/inbox/style.css",
    needs: Needs::Nobody,
    handler: || get(async || asset("text/css; charset=utf-8", STYLE_TEXT)),
};

pub(super) const SCRIPT: Route = Route {
    method: Method::GET,
    path: "/inbox/live.js",
    needs: Needs::Nobody,
    handler: || get(async || asset("text/javascript; charset=utf-8", SCRIPT_TEXT)),
};

const STYLE_TEXT: &str = include_str!("style.css");
const SCRIPT_TEXT: &str = include_str!("live.js");

/// Where this version's style sheet is: another version has another address, so that a
/// browser keeps each for good.
pub(super) static STYLE_URL: LazyLock<String> = LazyLock::new(|| address(STYLE.path, STYLE_TEXT));

/// The same for the script.
pub(super) static SCRIPT_URL: LazyLock<String> = LazyLock::new(|| address(SCRIPT.path, SCRIPT_TEXT));

fn address(path: &str, text: &str) -> String {
    format!("{path}?{}", &Digest::of(text).hex()[..16])
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, text).into_response()
}
