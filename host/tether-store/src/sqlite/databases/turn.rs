//! The right to write to a file.

use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};
use tether_core::port::databases::{SqlError, SqlLimits};
use tokio::sync::OwnedSemaphorePermit;

use super::connect::open_writer;
use super::error::sql_error;
use super::file::DatabaseFile;
use super::guard::GuardedConnection;
use super::stop::Stop;
use super::syncs::{Seen, Sound, Told, in_doubt};
use crate::sqlite::{execute, failed_commit, left};

/// Pages in the log of a file of Tether's own from which on they are moved into the file.
const CHECKPOINT: i64 = 1_000;

/// The right to write to a file. Dropping it undoes what is not committed, and only
/// then lets the next one have it. Everything here blocks.
pub(super) struct Turn {
    file: Arc<DatabaseFile>,
    connection: Option<GuardedConnection>,
    sound: Sound,
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// By the `permit` of a file that is `sound`.
    pub(super) fn new(file: Arc<DatabaseFile>, permit: OwnedSemaphorePermit, sound: Sound) -> Self {
        Self { file, connection: None, sound, _permit: permit }
    }

    /// The bounds on SQL.
    pub(super) fn limits(&self) -> &SqlLimits {
        self.file.limits()
    }

    /// Since when the file has been sound.
    pub(super) fn sound(&self) -> Sound {
        self.sound
    }

    /// What was seen with it.
    pub(super) fn seen(&self) -> Seen {
        self.file.syncs.seen(self.sound)
    }

    /// The connection for writing, its statements bound to `stop`.
    pub(super) fn connection(&mut self, stop: &Stop) -> rusqlite::Result<&mut GuardedConnection> {
        if self.connection.is_none() {
            let idle = self.file.idle_writer().take();
            let connection = match idle {
                Some(connection) => connection,
                None => {
                    self.file.left.sync()?;
                    self.file.syncs.forget_log();
                    open_writer(&self.file.path, self.file.own, self.file.limits(), stop)?
                }
            };
            self.connection = Some(connection);
        }
        let connection = self.connection.as_mut().expect("just put there");
        stop.watch(connection)?;
        Ok(connection)
    }

    /// Commits what is open on the connection. An existing file is synced by that; one of
    /// Tether's own is not yet, see [`Turn::answer`] and [`Turn::sync`].
    ///
    /// # Errors
    ///
    /// Nothing of it is there then, and nothing will be; or else, `Unreachable`, nobody
    /// knows, and the file is in doubt. A COMMIT that failed in the middle may have
    /// written all of itself: nobody in this process sees it, and whoever reads the log
    /// anew, after a kill, would.
    pub(super) fn commit(&mut self) -> Result<(), SqlError> {
        let Self { file, connection: open, .. } = self;
        let Some(connection) = open else { return Err(in_doubt()) };
        if file.syncs.sound() != Some(self.sound) {
            return Err(in_doubt());
        }
        let named = if file.own {
            file.syncs.begin();
            Ok(())
        } else {
            left::sync_name_of_journal(&file.path)
        };
        let result = match named.and_then(|()| execute(connection, "COMMIT")) {
            Ok(()) => {
                // What of the log and of the file is on the disk is as little known after a
                // checkpoint that failed as after any other sync that did.
                if file.own
                    && let Err(error) = checkpoint(connection)
                {
                    file.syncs.doubt(&error);
                }
                Ok(())
            }
            Err(error)
                if failed_commit::is_undone(&error)
                    && (connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok()) =>
            {
                Err(sql_error(connection, error))
            }
            Err(error) => {
                file.syncs.doubt(&error);
                *open = None;
                Err(in_doubt())
            }
        };
        if file.own {
            file.syncs.end();
        }
        result
    }

    /// Syncs what was committed, before the turn is given back: for what has to be on the
    /// disk before something else is.
    ///
    /// # Errors
    ///
    /// `Unreachable`: nobody knows whether it is.
    pub(super) fn sync(&mut self) -> Result<(), SqlError> {
        match !self.file.own || self.file.syncs.sync(self.sound) {
            true => Ok(()),
            false => Err(in_doubt()),
        }
    }

    /// Gives the turn back after a commit, and has `told` answered once the commit is
    /// durable: by this thread, or by the one that syncs for others already.
    pub(super) fn answer(self, told: Told) {
        if !self.file.own {
            drop(self);
            let _ = told.send(Ok(()));
            return;
        }
        let lead = self.file.syncs.join(self.seen(), told);
        drop(self);
        if let Some(lead) = lead {
            lead.run_once();
        }
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

/// Moves a log that has grown long into the file, as SQLite would by itself: with the
/// turn, or it would never get to the end of a log that others write to; once for so many
/// pages, so that few commits wait for it, and none for more than these.
fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    let asked = |mode: &str| {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        connection.prepare_cached(&sql)?.query_row([], |row| row.get::<_, i64>(1))
    };
    if asked("NOOP")? < CHECKPOINT {
        return Ok(());
    }
    match asked("PASSIVE") {
        // The log keeps what the file has no room for.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(()),
        moved => moved.map(drop),
    }
}
