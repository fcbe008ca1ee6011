//! Tokens, by their digests.

use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::tokens::{Token, Tokens};

use super::SqliteActions;

impl Tokens for SqliteActions {
    fn create(&self, _token: Token, _digest: Digest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::Failed("tokens are not kept yet".into())) })
    }

    fn list(&self, _tenant: Option<TenantId>) -> BoxFuture<'_, Result<Vec<Token>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn revoke(
        &self,
        _tenant: Option<TenantId>,
        _id: TokenId,
        _by: UserId,
        _at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn find(&self, _digest: Digest) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn by_id(&self, _id: TokenId) -> BoxFuture<'_, Result<Option<Token>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn any_ever(&self) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async { Ok(false) })
    }
}
