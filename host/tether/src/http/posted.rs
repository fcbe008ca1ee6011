//! What the requests that ask for something have in common.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use tether_core::id::IdempotencyKey;

use super::Host;
use super::auth::{Entered, key_header};
use super::body::text;
use super::problem::Rejection;

/// Who asks, about what, with which key and which words; looked at in this order,
/// so that nobody without a token learns anything.
pub(super) struct Posted<P> {
    pub(super) entered: Entered,
    /// What the path names.
    pub(super) subject: P,
    /// The `Idempotency-Key` header.
    pub(super) key: Option<IdempotencyKey>,
    pub(super) body: String,
}

impl<P> FromRequest<Arc<Host>> for Posted<P>
where
    P: FromRequestParts<Arc<Host>, Rejection = Rejection> + Send,
{
    type Rejection = Rejection;

    async fn from_request(request: Request, host: &Arc<Host>) -> Result<Self, Rejection> {
        let (mut parts, body) = request.into_parts();
        let entered = Entered::from_request_parts(&mut parts, host).await?;
        let subject = P::from_request_parts(&mut parts, host).await?;
        let key = key_header(&parts.headers)?;
        Ok(Self { entered, subject, key, body: text(body).await? })
    }
}
