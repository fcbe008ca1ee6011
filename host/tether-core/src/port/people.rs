//! What is known of people who do not ask themselves.

use crate::clock::Timestamp;
use crate::id::{TenantId, UserId};
use crate::identity::Role;
use crate::port::BoxFuture;
use crate::port::actions::StoreError;

/// Whoever knows who may come in.
pub trait People: Send + Sync + 'static {
    /// Whether somebody who came in with this role before `since` is known to be turned
    /// away: what let this user of this tenant in with it was revoked since then, and
    /// nothing that is known lets it in with it now. What was revoked shortly before `since`
    /// counts as well: a request may be let in, and take some time to say what it says.
    ///
    /// Of people whom a provider vouches for nothing is known: false.
    fn is_turned_away<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        role: Role,
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
        _role: Role,
        _since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(std::future::ready(Ok(false)))
    }
}
