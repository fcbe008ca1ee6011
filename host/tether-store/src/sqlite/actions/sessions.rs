//! Sessions of browsers, by the digests of their cookies.

use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::sessions::{Session, Sessions};

use super::SqliteActions;

impl Sessions for SqliteActions {
    fn open(&self, _digest: Digest, _session: Session) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::Failed("sessions are not kept yet".into())) })
    }

    fn find(&self, _digest: Digest) -> BoxFuture<'_, Result<Option<Session>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn close(&self, _digest: Digest) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn prune(&self, _now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}
