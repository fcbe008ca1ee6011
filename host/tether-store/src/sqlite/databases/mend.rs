//! A file in doubt is brought to where everybody knows what it holds.
//!
//! Nothing is told of it before that, and nothing written. Whoever wants to, mends it
//! first; where that fails, the next one tries again, and an action whose records are
//! wanted stays executing meanwhile.
//!
//! A sync failed, or a COMMIT in the middle of its own. The system may have forgotten
//! what it could not write, and the log be damaged where it did; what a COMMIT wrote may
//! lie in the log, whole, behind the end that everybody knows; a journal may be deleted,
//! and its folder not synced. So nobody of this process keeps a connection, which trusts
//! an index of the log in memory. The file is opened anew, which reads the log from its
//! first frame, sum by sum, up to what is whole. What is there then is a whole number of
//! commits; it is written again over itself, as far as the system still has it, and
//! synced; and the records say which commits these are, whoever waits to know.
//!
//! Another program that has a file of ours open, such as a backup, keeps the index alive,
//! and with it what the system may have forgotten: so there must be a moment at which
//! nobody has it open. Others may write to an *existing* file, at any time. They are kept
//! out by SQLite's lock, and one more commit, which changes nothing and is synced, buries
//! what the index does not know, or syncs the end of a journal.
//!
//! What cannot be promised: where the process is killed while a file is in doubt, and the
//! system had given up a part of the log, the next process sees the commits up to that
//! part, and cannot tell that there were others. None of those was told. And where the system
//! shows a log otherwise than it was written, another program that has the file open may
//! move what it shows into the file, and spoil it.

use std::sync::Arc;

use tether_core::port::databases::SqlError;
use tokio::sync::OwnedSemaphorePermit;

use super::connect::{open_alone, open_writer};
use super::error::{sql_error, without_connection};
use super::file::DatabaseFile;
use super::files::unusable;
use super::guard::GuardedConnection;
use super::stop::Stop;
use super::syncs::in_doubt;
use super::turn::Turn;
use crate::sqlite::failed_commit::bury;
use crate::sqlite::{blocking, left};

impl DatabaseFile {
    /// Mends it, with the turn of `permit`, once nobody reads.
    pub(super) async fn mend(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Result<Turn, SqlError> {
        let alone = self.readers.alone().await;
        let file = self.clone();
        blocking(move || {
            let _alone = alone;
            drop(file.idle_writer().take());
            file.readers.close();
            file.syncs.forget_log();
            let writer = file.read_anew()?;
            *file.idle_writer() = Some(writer);
            file.syncs.mended();
            tracing::info!(file = %file.path.display(), "a database is not in doubt any more");
            let sound = file.syncs.sound().ok_or_else(in_doubt)?;
            Ok(Turn::new(file, permit, sound))
        })
        .await
    }

    fn read_anew(&self) -> Result<GuardedConnection, SqlError> {
        let stop = Stop::after(self.limits().turn_time);
        if self.own { self.own_anew(&stop) } else { self.existing_anew(&stop) }
    }

    /// One of ours, once nobody else had it open.
    fn own_anew(&self, stop: &Stop) -> Result<GuardedConnection, SqlError> {
        let alone = self.was_alone()?;
        let writer = self.written_again(stop)?;
        if !alone {
            // Whoever closes it last would move the log into the file: as long as this one
            // is kept, nobody does.
            *self.idle_writer() = Some(writer);
            return Err(SqlError::Unreachable("another program has it open: close that".to_owned()));
        }
        Ok(writer)
    }

    /// An existing one, whoever else has it open.
    fn existing_anew(&self, stop: &Stop) -> Result<GuardedConnection, SqlError> {
        let writer = self.written_again(stop)?;
        bury(&writer).map_err(|error| sql_error(&writer, error))?;
        Ok(writer)
    }

    /// Opens it; its log, as the system has it, is written over itself and synced.
    fn written_again(&self, stop: &Stop) -> Result<GuardedConnection, SqlError> {
        let writer = open_writer(&self.path, self.own, self.limits(), stop).map_err(without_connection)?;
        let sqlite = |result: rusqlite::Result<()>| result.map_err(|error| sql_error(&writer, error));
        // Nobody else writes to the log, nor puts it to another use.
        sqlite(writer.execute_batch("BEGIN IMMEDIATE"))?;
        left::write_log_again(&self.path)
            .and_then(|()| left::sync_folder_of(&self.path)) // a log that is gone stays so
            .map_err(|error| unusable(&error))?;
        sqlite(writer.execute_batch("ROLLBACK"))?;
        Ok(writer)
    }

    /// Whether nobody has it open just now, in this process or in another.
    fn was_alone(&self) -> Result<bool, SqlError> {
        match open_alone(&self.path).map_err(without_connection) {
            Ok(()) => Ok(true),
            Err(SqlError::Busy) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
