//! Who may come as far as the token: requests for this host by its own name, and from no
//! page of somebody else's. A page that a browser shows could otherwise speak with a host on
//! its user's machine.

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use rmcp::ErrorData;
use tether_core::identity::{Caller, Channel, Role};

use super::endpoint::error;
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

/// The origin of the page that sent it, where it is one of these.
pub(super) fn allowed<'a>(origins: &'a [Origin], headers: &HeaderMap) -> Option<&'a Origin> {
    let mut values = headers.get_all(ORIGIN).iter();
    let origin = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| origins.iter().find(|known| known.to_string() == origin))?
}

/// Whoever it is, over MCP it is an agent and nothing else: it sees its own actions, and
/// decides about none.
pub(crate) fn narrowed(caller: Caller) -> Caller {
    Caller { roles: vec![Role::Agent], channel: Channel::Mcp, operator: false, ..caller }
}
