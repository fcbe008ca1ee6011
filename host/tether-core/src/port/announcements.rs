//! What was written to the histories, for those who tell others of it.

use crate::action::Revision;
use crate::digest::Digest;
use crate::id::{ActionId, TenantId};
use crate::port::BoxFuture;
use crate::port::actions::{HistoryEvent, StoreError};

/// An event of some tenant's history.
#[derive(Debug, Clone)]
pub struct Announced {
    /// Counts the events of all tenants, in the order in which they were written. Never
    /// shown to a tenant: it tells how busy others are.
    pub number: u64,
    /// Whose history it is in.
    pub tenant: TenantId,
    /// Where in it; see [`crate::chain`].
    pub place: u64,
    /// Its hash in the chain.
    pub hash: Digest,
    /// What it happened to.
    pub action: ActionId,
    /// The action's revision from then on.
    pub revision: Revision,
    /// What happened.
    pub event: HistoryEvent,
}

/// The events of all tenants, in one order.
pub trait Announcements: Send + Sync + 'static {
    /// The number of the newest event; 0 where there is none.
    fn newest(&self) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Up to `limit` events with a number above `number`, oldest first. Numbers may have
    /// gaps.
    fn after(&self, number: u64, limit: usize) -> BoxFuture<'_, Result<Vec<Announced>, StoreError>>;

    /// Waits until an event with a number above `beyond` is durable.
    fn written(&self, beyond: u64) -> BoxFuture<'_, ()>;
}
