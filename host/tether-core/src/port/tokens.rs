//! Where tokens are kept, by their digests: no token itself is anywhere.

use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::id::{TenantId, TokenId, UserId};
use crate::identity::Role;
use crate::port::BoxFuture;
use crate::port::actions::StoreError;

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its name, which opens nothing.
    pub id: TokenId,
    /// Whom it lets in: a user of this tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// What it may do; at least one.
    pub roles: Vec<Role>,
    /// When it was made.
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: UserId,
    /// From when on it lets nobody in.
    pub expires_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// By whom.
    pub revoked_by: Option<UserId>,
}

/// Where tokens are kept. Whatever a method answers is durable first; nothing is ever
/// deleted.
pub trait Tokens: Send + Sync + 'static {
    /// Keeps a new token, whose SHA-256 is `digest`.
    fn create(&self, token: Token, digest: Digest) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The tokens of a tenant, or of all, newest first, at most 1,000.
    fn list(&self, tenant: Option<TenantId>) -> BoxFuture<'_, Result<Vec<Token>, StoreError>>;

    /// All tokens of this user of this tenant, valid or not, in no order.
    fn of(&self, tenant: TenantId, user: UserId) -> BoxFuture<'_, Result<Vec<Token>, StoreError>>;

    /// Revokes a token, of this tenant if one is named; the token as it then is. One that
    /// was revoked before stays as it was. None where there is no such token.
    fn revoke(
        &self,
        tenant: Option<TenantId>,
        id: TokenId,
        by: UserId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Token>, StoreError>>;

    /// The token whose SHA-256 is `digest`, valid or not.
    fn find(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Token>, StoreError>>;

    /// The token of this name, valid or not.
    fn by_id(&self, id: TokenId) -> BoxFuture<'_, Result<Option<Token>, StoreError>>;

    /// Whether any token would let somebody in at `now`: neither revoked, nor over.
    fn any_valid(&self, now: Timestamp) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Whether any token was ever made.
    fn any_ever(&self) -> BoxFuture<'_, Result<bool, StoreError>>;
}
