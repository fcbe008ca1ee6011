//! Where the sessions of browsers are kept, by the digests of their cookies.

use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::id::{TenantId, TokenId, UserId};
use crate::identity::Role;
use crate::port::BoxFuture;
use crate::port::actions::StoreError;

/// A person who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The tenant.
    pub tenant: TenantId,
    /// Who it is.
    pub user: UserId,
    /// What it may do.
    pub roles: Vec<Role>,
    /// What it signed in with.
    pub credential: Credential,
    /// When.
    pub created_at: Timestamp,
    /// From when on it is over.
    pub expires_at: Timestamp,
}

/// What somebody was let in by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// The host's own token, the one with this digest.
    Host(Digest),
    /// A stored token.
    Token(TokenId),
    /// A token of the provider with this issuer.
    Provider(String),
}

/// Where sessions are kept. Whatever a method answers is durable first.
pub trait Sessions: Send + Sync + 'static {
    /// Keeps a new session, whose cookie's SHA-256 is `digest`.
    fn open(&self, digest: Digest, session: Session) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The session whose cookie's SHA-256 is `digest`, over or not.
    fn find(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Session>, StoreError>>;

    /// The sessions of a user, by their digests, in the order in which they were opened.
    fn of(&self, tenant: TenantId, user: UserId) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>>;

    /// Ends it, if it is there.
    fn close(&self, digest: Digest) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Forgets those that were over at `now`.
    fn prune(&self, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>>;
}
