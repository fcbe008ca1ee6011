//! One database file: many may read, one has the turn to write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::config::DbConfig;
use tether_core::port::databases::{SqlError, SqlLimits};
use tokio::sync::Semaphore;

use super::connect::open_reader;
use super::error::without_connection;
use super::guard::GuardedConnection;
use super::room::Room;
use super::stop::Stop;
use super::syncs::{Seen, Syncs};
use super::turn::Turn;
use crate::sqlite::left::{Left, Whose};
use crate::sqlite::readers::Readers;

/// Connections that read one file at the same time.
const READERS: u32 = 8;

/// A database file that is open.
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    /// Whether Tether made it.
    pub(super) own: bool,
    limits: SqlLimits,
    room: Arc<Room>,
    pub(super) left: Arc<Left>,
    pub(super) syncs: Arc<Syncs>,
    /// Its permit is the writer's turn, given in the order of asking.
    turn: Arc<Semaphore>,
    /// The connection for writing, while nobody has the turn.
    writer: Mutex<Option<GuardedConnection>>,
    pub(super) readers: Arc<Readers<GuardedConnection>>,
}

impl DatabaseFile {
    /// The file at `path`, nothing opened yet; `own` if Tether made it.
    pub(super) fn new(path: PathBuf, own: bool, limits: SqlLimits, room: Arc<Room>) -> Arc<Self> {
        let whose = if own { Whose::Ours } else { Whose::Others };
        let left = Arc::new(Left::of(path.clone(), whose));
        let (reads, before) = (path.clone(), left.clone());
        let readers =
            Readers::new(READERS, move || before.sync().and_then(|()| open_reader(&reads, &limits)));
        let (syncs, turn) = (Syncs::of(&path), Arc::new(Semaphore::new(1)));
        Arc::new(Self { path, own, limits, room, left, syncs, turn, writer: Mutex::default(), readers })
    }

    /// The bounds on SQL.
    pub(super) fn limits(&self) -> &SqlLimits {
        &self.limits
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Remembers where `result` says that its disk is full.
    pub(super) fn heed<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        self.room.heed(&self.path, result)
    }

    /// Reads committed data, for `limits.read_time` at most, waiting included; then waits
    /// until what it read is durable. Dropped, it interrupts what runs.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut GuardedConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let sound = match self.syncs.sound() {
            Some(sound) => sound,
            None => self.turn().await?.sound(),
        };
        let stop = Stop::after(self.limits.read_time);
        let guard = stop.on_drop();
        let watched = move |connection: &mut GuardedConnection| {
            stop.watch(connection).map_err(without_connection)?;
            work(connection)
        };
        let Ok(read) = tokio::time::timeout(self.limits.read_time, self.readers.read(watched)).await else {
            return Err(SqlError::Other("the statement was stopped: its time was over".to_owned()));
        };
        guard.disarm();
        let read = self.heed(read.map_err(without_connection).flatten());
        // An error tells something of what is there, too.
        self.durable(self.syncs.seen(sound)).await?;
        read
    }

    /// Waits until what was `seen` may be told.
    ///
    /// # Errors
    ///
    /// `Unreachable`: it must not be.
    pub(super) async fn durable(&self, seen: Seen) -> Result<(), SqlError> {
        self.syncs.durable(seen).await
    }

    /// Waits for the writer's turn, in order and for `limits.turn_time` at most. A file
    /// that is in doubt is mended first.
    ///
    /// # Errors
    ///
    /// `Busy` if it does not come in time, `Unreachable` where the file is in doubt still.
    pub(super) async fn turn(self: &Arc<Self>) -> Result<Turn, SqlError> {
        let turn = async {
            let permit = self.turn.clone().acquire_owned().await.expect("never closed");
            match self.syncs.sound() {
                Some(sound) => Ok(Turn::new(self.clone(), permit, sound)),
                None => self.heed(self.mend(permit).await),
            }
        };
        tokio::time::timeout(self.limits.turn_time, turn).await.unwrap_or(Err(SqlError::Busy))
    }

    pub(super) fn idle_writer(&self) -> std::sync::MutexGuard<'_, Option<GuardedConnection>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DatabaseFile {
    /// Closes it, the writer last: so that it is alone, and leaves a file without a log. A
    /// log that is in doubt is left to whoever opens the file next.
    fn drop(&mut self) {
        self.readers.close();
        let writer = self.idle_writer().take();
        if self.own
            && self.syncs.sound().is_some()
            && let Some(writer) = writer
            && let Err(error) = writer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        {
            tracing::warn!(%error, "a database keeps its log");
        }
    }
}
