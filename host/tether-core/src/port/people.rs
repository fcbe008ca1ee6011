//! What is known of people who do not ask themselves.

use crate::clock::Timestamp;
use crate::id::{TenantId, UserId};
use crate::port::BoxFuture;
use crate::port::actions::StoreError;

/// Whoever knows who may come in.
pub trait People: Send + Sync + 'static {
    /// Whether somebody who could decide at `since` is known to be turned away: what let
    /// this user of this tenant in as an approver was revoked since then, and nothing that
    /// is known lets it in as one now.
    ///
    /// Of people whom a provider vouches for nothing is known: false.
    fn is_turned_away<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;
}

/// Knows nothing of anybody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strangers;

impl People for Strangers {
    fn is_turned_away<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _user: &'a UserId,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(std::future::ready(Ok(false)))
    }
}
