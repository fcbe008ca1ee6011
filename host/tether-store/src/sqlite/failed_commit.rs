//! A COMMIT that failed in the middle.
//!
//! With a write-ahead log, SQLite writes all of a commit, syncs it, and only then lets
//! others see it. Where the sync fails, nobody in any process sees the commit, and
//! everything goes on as if it had never been; but it lies in the log, whole, behind the
//! end that the log's index knows. If all processes are killed then, whoever opens the
//! file next reads the log from its start, and finds it. What was told as undone would be
//! done.

use rusqlite::{Connection, Error, ErrorCode};

/// Whether a COMMIT that failed so had not written its end, so that it can only be undone:
/// a deferred constraint, a lock of another process, or a write that found no room. (A
/// sync that found none says that I/O failed.)
pub(super) fn is_undone(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::ConstraintViolation
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::OperationInterrupted
        )
    )
}

/// Commits something that changes nothing, with a sync if `connection` does so. What lay
/// behind the end of a log is overwritten by that, or fits what is before it no more; and
/// of a rollback journal that was deleted, the folder is synced. Blocks.
pub(super) fn bury(connection: &Connection) -> rusqlite::Result<()> {
    let buried = connection.execute_batch("BEGIN IMMEDIATE").and_then(|()| {
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        connection.pragma_update(None, "user_version", version)?;
        connection.execute_batch("COMMIT")
    });
    if buried.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    buried
}
