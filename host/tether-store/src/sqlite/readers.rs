//! A few connections that only read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::blocking;

type Open<C> = Box<dyn Fn() -> rusqlite::Result<C> + Send + Sync>;

/// Connections to one file, opened when needed and kept for the next reader.
pub(super) struct Readers<C = Connection> {
    open: Open<C>,
    idle: Mutex<Vec<C>>,
    count: u32,
    places: Arc<Semaphore>,
}

impl<C: Send + 'static> Readers<C> {
    /// At most `count` that read at the same time, each made by `open`.
    pub(super) fn new(
        count: u32,
        open: impl Fn() -> rusqlite::Result<C> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(count as usize));
        Arc::new(Self { open: Box::new(open), idle: Mutex::default(), count, places })
    }

    /// Waits until nobody reads. Nobody does until the answer is dropped.
    pub(super) async fn alone(&self) -> OwnedSemaphorePermit {
        self.places.clone().acquire_many_owned(self.count).await.expect("never closed")
    }

    /// Closes the connections that nobody reads with. Blocks.
    pub(super) fn close(&self) {
        self.idle().clear();
    }

    /// Waits in order for a free connection, then reads with it. `work` leaves the
    /// connection as it found it; where it panics, the connection is closed. An error
    /// means that no connection could be opened.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut C) -> T + Send + 'static,
    ) -> rusqlite::Result<T> {
        let place = self.places.clone().acquire_owned().await.expect("never closed");
        let readers = self.clone();
        blocking(move || {
            let _place = place;
            let idle = readers.idle().pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => (readers.open)()?,
            };
            let result = work(&mut connection);
            readers.idle().push(connection);
            Ok(result)
        })
        .await
    }

    /// Reads on this thread, where a connection is free and open; none otherwise. For what is
    /// over in microseconds: to hand it to another thread would take longer.
    pub(super) fn read_here<T>(&self, work: impl FnOnce(&mut C) -> T) -> Option<T> {
        let _place = self.places.try_acquire().ok()?;
        let mut connection = self.idle().pop()?;
        let result = work(&mut connection);
        self.idle().push(connection);
        Some(result)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<C>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
