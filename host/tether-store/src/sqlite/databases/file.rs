//! One database file: many may read, one has the turn to write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::config::DbConfig;
use tether_core::port::databases::{SqlError, SqlLimits};
use tokio::sync::Semaphore;

use super::connect::open_reader;
use super::error::without_connection;
use super::files::Identity;
use super::guard::GuardedConnection;
use super::room::Room;
use super::standing::Standing;
use super::stop::Stop;
use super::syncs::{Seen, Syncs};
use super::turn::Turn;
use crate::sqlite::blocking;
use crate::sqlite::left::{Left, Whose};
use crate::sqlite::readers::Readers;

/// Connections that read one file at the same time.
const READERS: u32 = 8;

/// How long what is done with a turn takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// A few statements of the host's, which wait for nobody and sync nothing.
    Brief,
    /// It may wait for the disk.
    Blocks,
}

/// What was seen last of how a file stands.
#[derive(Default)]
struct Kept {
    standing: Option<Arc<Standing>>,
    /// How often it changed.
    changes: u64,
}

/// A database file that is open.
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    pub(super) identity: Identity,
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
    /// What it says of itself, where it is ours: nobody else changes that.
    standing: Mutex<Kept>,
    pub(super) readers: Arc<Readers<GuardedConnection>>,
}

impl DatabaseFile {
    /// The file at `path`, nothing opened yet; `own` if Tether made it.
    pub(super) fn new(
        path: PathBuf,
        identity: Identity,
        own: bool,
        limits: SqlLimits,
        room: Arc<Room>,
    ) -> Arc<Self> {
        let whose = if own { Whose::Ours } else { Whose::Others };
        let left = Arc::new(Left::of(path.clone(), whose));
        let (reads, before) = (path.clone(), left.clone());
        let readers =
            Readers::new(READERS, move || before.sync().and_then(|()| open_reader(&reads, &limits)));
        let (syncs, turn) = (Syncs::of(&path), Arc::new(Semaphore::new(1)));
        Arc::new(Self {
            path,
            identity,
            own,
            limits,
            room,
            left,
            syncs,
            turn,
            writer: Mutex::default(),
            standing: Mutex::default(),
            readers,
        })
    }

    /// The bounds on SQL.
    pub(super) fn limits(&self) -> &SqlLimits {
        &self.limits
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How it stands, if it is ours and somebody looked since it changed; or else the number
    /// of its changes, for whoever looks now.
    pub(super) fn standing(&self) -> Result<Arc<Standing>, u64> {
        let kept = self.kept();
        kept.standing.clone().ok_or(kept.changes)
    }

    /// Somebody looked, after so many `changes`.
    pub(super) fn stands(&self, standing: &Arc<Standing>, changes: u64) {
        let mut kept = self.kept();
        if self.own && kept.changes == changes {
            kept.standing = Some(standing.clone());
        }
    }

    /// How it stands has changed, or may have.
    pub(super) fn stands_otherwise(&self) {
        let mut kept = self.kept();
        kept.changes += 1;
        kept.standing = None;
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers where `result` says that its disk is full.
    pub(super) fn heed<T>(&self, result: Result<T, SqlError>) -> Result<T, SqlError> {
        self.room.heed(&self.path, result)
    }

    /// Reads committed data, for `limits.read_time` at most, waiting included; then waits
    /// until what it read is durable. Dropped, it interrupts what runs. `work` changes
    /// nothing: it may be begun twice.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Fn(&mut GuardedConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let sound = match self.syncs.sound() {
            Some(sound) => sound,
            None => self.turn().await?.sound(),
        };
        let read = match self.read_here(&work) {
            Some(read) => read,
            None => self.read_elsewhere(work).await,
        };
        let read = self.heed(read);
        // An error tells something of what is there, too.
        self.durable(self.syncs.seen(sound)).await?;
        read
    }

    /// The same where a crash may have left a journal, which only somebody who may write can
    /// undo.
    pub(super) async fn read_whatever_was_left<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Fn(&mut GuardedConnection) -> Result<T, SqlError> + Clone + Send + 'static,
    ) -> Result<T, SqlError> {
        match self.read(work.clone()).await {
            Err(SqlError::ReadOnly) => {}
            read => return read,
        }
        let mut turn = self.turn().await?;
        let stop = Stop::after(self.limits.read_time);
        let (read, seen) = blocking(move || {
            let read = turn.connection(&stop).map_err(without_connection).and_then(work);
            (read, turn.seen())
        })
        .await;
        self.durable(seen).await?;
        read
    }

    /// Most reads find what they want in memory, and are over sooner than another thread
    /// has begun. None where this one is not: it is given up, and begun anew over there.
    fn read_here<T>(
        &self,
        work: impl Fn(&mut GuardedConnection) -> Result<T, SqlError>,
    ) -> Option<Result<T, SqlError>> {
        if !self.own {
            return None; // nobody knows where it is, and who else holds it
        }
        let stop = Stop::soon();
        let read = self.readers.read_here(|connection| {
            stop.watch_without_waiting(connection).map_err(without_connection)?;
            work(connection)
        })?;
        match read {
            Err(SqlError::Busy) => None,
            Err(_) if stop.is_over() => None,
            read => Some(read),
        }
    }

    async fn read_elsewhere<T: Send + 'static>(
        &self,
        work: impl Fn(&mut GuardedConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
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
        read.map_err(without_connection).flatten()
    }

    /// Runs `work` with a turn: on this thread where it is brief and all that it needs is in
    /// memory, which is so once the writer's connection is open.
    pub(super) async fn in_turn<T: Send + 'static>(
        &self,
        turn: Turn,
        pace: Pace,
        work: impl FnOnce(Turn) -> T + Send + 'static,
    ) -> T {
        let here = pace == Pace::Brief && self.own && self.idle_writer().is_some();
        if here { work(turn) } else { blocking(|| work(turn)).await }
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

    pub(super) fn idle_writer(&self) -> MutexGuard<'_, Option<GuardedConnection>> {
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
