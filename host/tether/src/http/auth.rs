//! What a request brings: who asks, whether there is a gateway to ask yet, and what the path
//! and the headers name.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use tether_core::id::{ActionId, IdempotencyKey};
use tether_core::identity::Caller;
use tether_core::problem::{Code, Problem};
use tether_gateway::Gateway;

use super::admit::Admitted;
use super::host::Host;
use super::problem::Rejection;

/// Whoever was let in, at a host that is ready.
pub(crate) struct Entered {
    pub(crate) caller: Caller,
    pub(crate) gateway: Arc<Gateway>,
}

impl FromRequestParts<Arc<Host>> for Entered {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, host: &Arc<Host>) -> Result<Self, Rejection> {
        // A route whose needs let anybody in has no caller to give.
        let admitted = parts.extensions.get::<Admitted>().cloned().ok_or_else(Rejection::internal)?;
        let gateway = host.gateway().ok_or_else(Rejection::starting)?;
        Ok(Self { caller: admitted.0, gateway: Arc::clone(gateway) })
    }
}

/// The action that the path names.
pub(super) struct ActionPath(pub(super) ActionId);

impl<S: Send + Sync> FromRequestParts<S> for ActionPath {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        // What cannot be an id names no action.
        path.ok().and_then(|Path(id)| id.parse().ok()).map(Self).ok_or_else(|| {
            Problem::new(Code::ActionNotFound, "there is no such action: its id is 32 lower-case hex digits")
                .into()
        })
    }
}

/// The tool that the path names: any text, also one that is no tool's name.
pub(super) struct ToolPath(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for ToolPath {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejection> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        // What cannot be decoded names no tool.
        Ok(Self(path.map(|Path(name)| name).unwrap_or_default()))
    }
}

/// The key of the `Idempotency-Key` header.
pub(crate) fn key_header(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Rejection> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.any(|other| other != value) {
        return Err(Rejection::malformed("there are two `Idempotency-Key` headers; send one"));
    }
    let text = std::str::from_utf8(value.as_bytes())
        .map_err(|_| Rejection::malformed("the `Idempotency-Key` header is not UTF-8"))?;
    text.parse().map(Some).map_err(|error| Rejection::malformed(format!("`Idempotency-Key`: {error}")))
}
