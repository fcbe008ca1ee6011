//! One database file: many may read, one has the turn to write.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tether_core::port::databases::{SqlError, SqlLimits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::without_connection;
use super::room::Room;
use super::stop::Stop;
use crate::sqlite::left::Left;
use crate::sqlite::readers::Readers;

/// Connections that read one file at the same time.
const READERS: usize = 8;

/// Tether's own statements and outputs fit into this, whatever a guest's limit is.
const LEAST_LENGTH: usize = 1 << 20;

/// A database file that is open.
pub(super) struct DatabaseFile {
    path: PathBuf,
    own: bool,
    limits: SqlLimits,
    room: Arc<Room>,
    left: Arc<Left>,
    /// Its permit is the writer's turn, given in the order of asking.
    turn: Arc<Semaphore>,
    /// The connection for writing, while nobody has the turn.
    writer: Mutex<Option<Connection>>,
    readers: Arc<Readers>,
}

impl DatabaseFile {
    /// The file at `path`, nothing opened yet; `own` if Tether made it.
    pub(super) fn new(path: PathBuf, own: bool, limits: SqlLimits, room: Arc<Room>) -> Arc<Self> {
        let left = Arc::new(Left::of(path.clone()));
        let (reads, before) = (path.clone(), left.clone());
        let readers =
            Readers::new(READERS, move || before.sync().and_then(|()| open_reader(&reads, &limits)));
        let turn = Arc::new(Semaphore::new(1));
        Arc::new(Self { path, own, limits, room, left, turn, writer: Mutex::default(), readers })
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

    /// Reads committed data, for `limits.read_time` at most, waiting included.
    /// Dropped, it interrupts what runs.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let stop = Stop::after(self.limits.read_time);
        let guard = stop.on_drop();
        let watched = move |connection: &mut Connection| {
            stop.watch(connection).map_err(without_connection)?;
            work(connection)
        };
        let Ok(read) = tokio::time::timeout(self.limits.read_time, self.readers.read(watched)).await else {
            return Err(SqlError::Other("the statement was stopped: its time was over".to_owned()));
        };
        guard.disarm();
        self.heed(read.map_err(without_connection).flatten())
    }

    /// Waits for the writer's turn, in order and for `limits.turn_time` at most.
    ///
    /// # Errors
    ///
    /// `Busy` if it does not come in time.
    pub(super) async fn turn(self: &Arc<Self>) -> Result<Turn, SqlError> {
        let turn = self.turn.clone().acquire_owned();
        match tokio::time::timeout(self.limits.turn_time, turn).await {
            Ok(permit) => {
                Ok(Turn { file: self.clone(), connection: None, _permit: permit.expect("never closed") })
            }
            Err(_) => Err(SqlError::Busy),
        }
    }

    fn idle_writer(&self) -> std::sync::MutexGuard<'_, Option<Connection>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write to a file. Dropping it undoes what is not committed, and only
/// then lets the next one have it. Everything here blocks.
pub(super) struct Turn {
    file: Arc<DatabaseFile>,
    connection: Option<Connection>,
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// The bounds on SQL.
    pub(super) fn limits(&self) -> &SqlLimits {
        &self.file.limits
    }

    /// The connection for writing, its statements bound to `stop`.
    pub(super) fn connection(&mut self, stop: &Stop) -> rusqlite::Result<&mut Connection> {
        if self.connection.is_none() {
            let idle = self.file.idle_writer().take();
            let connection = match idle {
                Some(connection) => connection,
                None => {
                    self.file.left.sync()?;
                    open_writer(&self.file.path, self.file.own, &self.file.limits, stop)?
                }
            };
            self.connection = Some(connection);
        }
        let connection = self.connection.as_mut().expect("just put there");
        stop.watch(connection)?;
        Ok(connection)
    }

    /// Closes the connection: nobody can tell any more what state it is in. The next
    /// turn opens the file anew and sees what the disk holds.
    pub(super) fn close(&mut self) {
        self.connection = None;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let unwatched = connection.progress_handler(0, None::<fn() -> bool>);
        let ended = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        // A connection that is not clean is closed, which undoes as well.
        if unwatched.is_ok() && ended {
            *self.file.idle_writer() = Some(connection);
        }
    }
}

fn open_reader(path: &PathBuf, limits: &SqlLimits) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    harden(&connection, limits)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open_writer(path: &PathBuf, own: bool, limits: &SqlLimits, stop: &Stop) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    stop.watch(&mut connection)?;
    harden(&connection, limits)?;
    if own {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    // As `full`; where an existing file has a rollback journal, its end is synced too.
    connection.pragma_update(None, "synchronous", "extra")?;
    connection.pragma_update(None, "fullfsync", true)?;
    Ok(connection)
}

/// What holds for every statement of a guest, whoever wrote the schema.
fn harden(connection: &Connection, limits: &SqlLimits) -> rusqlite::Result<()> {
    use DbConfig::*;
    for (setting, on) in [
        (SQLITE_DBCONFIG_ENABLE_FKEY, true),
        (SQLITE_DBCONFIG_DEFENSIVE, true),
        (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (SQLITE_DBCONFIG_DQS_DML, false),
        (SQLITE_DBCONFIG_DQS_DDL, false),
        (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    use Limit::*;
    let length = i32::try_from(limits.max_bytes.max(LEAST_LENGTH)).unwrap_or(i32::MAX);
    for (limit, value) in [
        (SQLITE_LIMIT_LENGTH, length),
        (SQLITE_LIMIT_SQL_LENGTH, length),
        (SQLITE_LIMIT_EXPR_DEPTH, 200),
        (SQLITE_LIMIT_COMPOUND_SELECT, 100),
        (SQLITE_LIMIT_VDBE_OP, 1_000_000),
        (SQLITE_LIMIT_ATTACHED, 0),
        (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (SQLITE_LIMIT_TRIGGER_DEPTH, 50),
        (SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}
