//! What was written to the histories, for those who tell others of it.

use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::announcements::{Announced, Announcements};

use super::{SqliteActions, reads};

impl Announcements for SqliteActions {
    fn newest(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.look_up(reads::newest_event))
    }

    fn after(&self, number: u64, limit: usize) -> BoxFuture<'_, Result<Vec<Announced>, StoreError>> {
        Box::pin(self.read(move |connection| reads::announced_after(connection, number, limit)))
    }

    fn written(&self, beyond: u64) -> BoxFuture<'_, ()> {
        // Before the look, so that no commit is missed.
        let mut commits = self.writer.commits();
        Box::pin(async move {
            loop {
                commits.mark_unchanged();
                match self.newest().await {
                    Ok(newest) if newest > beyond => return,
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "the newest event cannot be told"),
                }
                // The sender lives as long as the store.
                if commits.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        })
    }
}
