//! A few connections that only read.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::blocking;

type Open = Box<dyn Fn() -> rusqlite::Result<Connection> + Send + Sync>;

/// Connections to one file, opened when needed and kept for the next reader.
pub(super) struct Readers {
    open: Open,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Readers {
    /// At most `count` that read at the same time, each made by `open`.
    pub(super) fn new(
        count: usize,
        open: impl Fn() -> rusqlite::Result<Connection> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(count));
        Arc::new(Self { open: Box::new(open), idle: Mutex::default(), places })
    }

    /// Waits in order for a free connection, then reads with it. `work` leaves the
    /// connection as it found it; where it panics, the connection is closed. An error
    /// means that no connection could be opened.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
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

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
