//! What is still to be told to webhooks.

use tether_core::clock::Timestamp;
use tether_core::id::ActionId;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::hooks::{Due, Hooks};

use super::SqliteActions;

impl Hooks for SqliteActions {
    fn cursor<'a>(&'a self, _hook: &'a str) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn take<'a>(
        &'a self,
        _hook: &'a str,
        _events: Vec<(u64, ActionId)>,
        _cursor: u64,
        _at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::Failed("hooks are not kept yet".into())) })
    }

    fn keep_only(&self, _names: Vec<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn due<'a>(
        &'a self,
        _hook: &'a str,
        _now: Timestamp,
        _limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Due>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn delivered<'a>(&'a self, _hook: &'a str, _number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn failed<'a>(
        &'a self,
        _hook: &'a str,
        _number: u64,
        _next_at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn given_up<'a>(&'a self, _hook: &'a str, _number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}
