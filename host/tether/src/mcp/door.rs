//! Who may come as far as the token: requests for this host by its own name, and from no
//! page of somebody else's. A page that a browser shows could otherwise speak with a host on
//! its user's machine.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, ORIGIN,
    VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use tether_core::identity::{Caller, Channel, Role};

use super::refusal::error;
use crate::http::{Host, Origin};

/// Turns away what is not meant for this host, or comes from a page that may not.
pub(crate) fn turned_away(host: &Host, headers: &HeaderMap) -> Option<Response> {
    let place = host.inbox().place();
    if !place.is_meant(headers) {
        let text = "this host does not go by this name; its own is set as `url` of [inbox]";
        return Some(error(StatusCode::MISDIRECTED_REQUEST, None, &ErrorData::invalid_request(text, None)));
    }
    if headers.contains_key(ORIGIN)
        && !place.is_own_origin(headers)
        && allowed(&host.mcp_settings().origins, headers).is_none()
    {
        let text = "pages of this origin may not call; `origins` of [mcp] names those that may";
        return Some(error(StatusCode::FORBIDDEN, None, &ErrorData::invalid_request(text, None)));
    }
    None
}

/// A page of another origin, in a browser, that may call.
pub(crate) struct Page(HeaderValue);

impl Page {
    /// The page that sent this, where it is one of those that are named.
    pub(crate) fn of(host: &Host, headers: &HeaderMap) -> Option<Self> {
        let origin = allowed(&host.mcp_settings().origins, headers)?;
        HeaderValue::from_str(&origin.to_string()).ok().map(Self)
    }

    /// The browser shows it the answer, refusals included: they say how to get a token.
    pub(crate) fn may_read(self, answer: &mut Response) {
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Mcp-Session-Id, Retry-After, WWW-Authenticate"),
        );
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
}

/// `OPTIONS /mcp`: what a browser asks before it sends what a page wants to send. It carries
/// no token.
pub(super) async fn preflight(State(host): State<Arc<Host>>, headers: HeaderMap) -> Response {
    if let Some(answer) = turned_away(&host, &headers) {
        return answer;
    }
    let mut answer = (StatusCode::NO_CONTENT, [(ALLOW, "DELETE, GET, OPTIONS, POST")]).into_response();
    let Some(page) = Page::of(&host, &headers) else { return answer };
    page.may_read(&mut answer);
    let wanted = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|names| names.to_str().ok());
    let names: Vec<_> =
        wanted.unwrap_or_default().split(',').map(str::trim).filter(|name| is_ours(name)).collect();
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("DELETE, GET, POST"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    answer
}

/// Whether a page may send this header.
fn is_ours(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let known = ["accept", "authorization", "content-type", "idempotency-key", "last-event-id"];
    known.contains(&name.as_str()) || name.starts_with("mcp-")
}

/// The origin of the page that sent it, where it is one of these.
fn allowed<'a>(origins: &'a [Origin], headers: &HeaderMap) -> Option<&'a Origin> {
    let mut values = headers.get_all(ORIGIN).iter();
    let origin = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| origins.iter().find(|known| known.to_string() == origin))?
}

/// Whoever it is, over MCP it is an agent and nothing else: it sees its own actions, and
/// decides about none.
pub(crate) fn narrowed(caller: Caller) -> Caller {
    Caller { roles: vec![Role::Agent], channel: Channel::Mcp, operator: false, ..caller }
}
