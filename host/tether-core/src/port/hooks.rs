//! What is still to be told to webhooks.

use crate::clock::Timestamp;
use crate::id::ActionId;
use crate::port::BoxFuture;
use crate::port::actions::StoreError;

/// An event that is to be delivered to a hook now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The event's [`number`](crate::port::announcements::Announced::number).
    pub number: u64,
    /// Its action.
    pub action: ActionId,
    /// How often it was tried in vain.
    pub failures: u32,
    /// Since when it waits.
    pub queued_at: Timestamp,
}

/// A queue for each hook, and how far into the history it has come. Hooks go by the names
/// that the operator gave them. Whatever a method answers is durable first.
pub trait Hooks: Send + Sync + 'static {
    /// The number of the last event that was taken for the hook; none for a new hook.
    fn cursor<'a>(&'a self, hook: &'a str) -> BoxFuture<'a, Result<Option<u64>, StoreError>>;

    /// Queues `events`, due at `at`, and moves the cursor, in one transaction.
    fn take<'a>(
        &'a self,
        hook: &'a str,
        events: Vec<(u64, ActionId)>,
        cursor: u64,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets every hook that is not among `names`, and its queue.
    fn keep_only(&self, names: Vec<String>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Up to `limit` events that are due at `now`: of each action the first that waits,
    /// where that one is due.
    fn due<'a>(
        &'a self,
        hook: &'a str,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Due>, StoreError>>;

    /// It was delivered: it leaves the queue.
    fn delivered<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>>;

    /// It was not, and is due again at `next_at`.
    fn failed<'a>(
        &'a self,
        hook: &'a str,
        number: u64,
        next_at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// It never will be: it leaves the queue.
    fn given_up<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>>;
}
