//! Where a client gets a token: the part of a resource server in the protocol's OAuth profile
//! (RFC 9728). Tokens themselves are taken as everywhere else (`identity`), and never passed on.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, options};
use serde::Serialize;

use super::door::{Page, turned_away};
use crate::http::{Host, Needs, Origin, Route, text, unknown_path};
use crate::identity::Identities;

/// Where it is looked for by whoever knows the host only.
const HOSTS: &str = "/.well-known/oauth-protected-resource";

/// Where it is looked for by whoever knows the address of the protocol.
const MCPS: &str = "/.well-known/oauth-protected-resource/mcp";

pub(super) const OF_HOST: Route =
    Route { method: Method::GET, path: HOSTS, needs: Needs::Nobody, handler: || get(told) };
pub(super) const OF_MCP: Route =
    Route { method: Method::GET, path: MCPS, needs: Needs::Nobody, handler: || get(told) };
pub(super) const PREFLIGHT_OF_HOST: Route =
    Route { method: Method::OPTIONS, path: HOSTS, needs: Needs::Nobody, handler: || options(preflight) };
pub(super) const PREFLIGHT_OF_MCP: Route =
    Route { method: Method::OPTIONS, path: MCPS, needs: Needs::Nobody, handler: || options(preflight) };

/// Protected-resource metadata.
#[derive(Debug, Serialize)]
struct Metadata<'a> {
    resource: String,
    authorization_servers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'a str>,
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
}

impl<'a> Metadata<'a> {
    /// That of a host with this origin; none where no provider's tokens are taken. Clients
    /// would look for a server that nobody has.
    fn new(identities: &'a Identities, origin: &str) -> Option<Self> {
        let authorization_servers: Vec<_> = servers(identities).collect();
        (!authorization_servers.is_empty()).then(|| Self {
            resource: resource(origin),
            authorization_servers,
            scopes_supported: scopes(identities),
            bearer_methods_supported: ["header"],
            resource_name: "Tether",
        })
    }
}

/// What tokens are asked for.
fn resource(origin: &str) -> String {
    format!("{origin}/mcp")
}

/// The issuers that can be asked: one whose keys are named may have any name.
fn servers(identities: &Identities) -> impl Iterator<Item = &str> {
    let names = identities.issuers().map(|issuer| issuer.name);
    names.filter(|name| name.starts_with("https://") || name.starts_with("http://"))
}

/// The scopes that make somebody an agent, each once.
fn scopes(identities: &Identities) -> Vec<&str> {
    let mut scopes: Vec<_> = identities.issuers().flat_map(|issuer| issuer.scopes).collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

async fn told(State(host): State<Arc<Host>>, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(answer) = turned_away(&host, &headers) {
        return answer;
    }
    let origin = host.inbox().place().origin(&headers);
    let metadata = origin.and_then(|origin| Metadata::new(host.identities(), &origin));
    let mut answer = match metadata {
        Some(metadata) => {
            let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
            (headers, text(&metadata)).into_response()
        }
        None => unknown_path(uri).await.into_response(),
    };
    if let Some(page) = Page::of(&host, &headers) {
        page.may_read(&mut answer);
    }
    answer
}

/// What a browser asks before a page may read it: clients send the revision that they speak.
async fn preflight(State(host): State<Arc<Host>>, headers: HeaderMap) -> Response {
    if let Some(answer) = turned_away(&host, &headers) {
        return answer;
    }
    let mut answer = (StatusCode::NO_CONTENT, [(ALLOW, "GET, OPTIONS")]).into_response();
    if let Some(page) = Page::of(&host, &headers) {
        page.may_read(&mut answer);
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("mcp-protocol-version"));
    }
    answer
}

/// A refusal that says where to get a token that is not refused. It is the same whatever was
/// wrong with the one that came, if any did.
pub(crate) fn challenged(host: &Host, headers: &HeaderMap, mut refusal: Response) -> Response {
    let lacks = match refusal.status() {
        StatusCode::UNAUTHORIZED => "",
        StatusCode::FORBIDDEN => "error=\"insufficient_scope\", ",
        _ => return refusal,
    };
    let Some(origin) = host.inbox().place().origin(headers) else { return refusal };
    if servers(host.identities()).next().is_none() {
        return refusal;
    }
    let mut challenge = format!("Bearer realm=\"tether\", {lacks}resource_metadata=\"{origin}{MCPS}\"");
    let scopes = scopes(host.identities());
    if !scopes.is_empty() {
        challenge.push_str(&format!(", scope=\"{}\"", scopes.join(" ")));
    }
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    refusal
}

/// Clients ask for tokens for the resource that the metadata names. A provider whose tokens are
/// taken for another only would give them tokens that open nothing.
pub(crate) fn warn_of_audiences(identities: &Identities, url: Option<&Origin>) {
    let Some(resource) = url.map(|url| resource(&url.to_string())) else { return };
    for issuer in identities.issuers() {
        if !issuer.audiences.contains(&resource) {
            tracing::warn!(
                issuer = issuer.name,
                resource,
                "MCP clients ask this provider for tokens for that resource, and none would be taken: add it to \
                 its `audience`"
            );
        }
    }
}
