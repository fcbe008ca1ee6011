//! Connections to a database file, set up for guests.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tether_core::port::databases::SqlLimits;

use super::guard::{GuardedConnection, Purpose};
use super::stop::Stop;

/// Tether's own statements and outputs fit into this, whatever a guest's limit is.
const LEAST_LENGTH: usize = 1 << 20;

/// What the host adds to a statement, at most.
const ADDED: i32 = 64;

/// One that reads.
pub(super) fn open_reader(path: &Path, limits: &SqlLimits) -> rusqlite::Result<GuardedConnection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    harden(&connection, limits)?;
    connection.pragma_update(None, "query_only", true)?;
    GuardedConnection::new(connection, Purpose::Read)
}

/// One that writes; to a file of Tether's `own`, without a sync of its own.
pub(super) fn open_writer(
    path: &Path,
    own: bool,
    limits: &SqlLimits,
    stop: &Stop,
) -> rusqlite::Result<GuardedConnection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    stop.watch(&mut connection)?;
    harden(&connection, limits)?;
    if own {
        connection.pragma_update(None, "journal_mode", "wal")?;
        // Its commits are synced together: see `syncs`.
        connection.pragma_update(None, "synchronous", "normal")?;
        // SQLite would say nothing where one of its own fails: see `Turn::commit`.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    } else {
        // As `full`; where an existing file has a rollback journal, its end is synced too.
        connection.pragma_update(None, "synchronous", "extra")?;
    }
    connection.pragma_update(None, "fullfsync", true)?;
    GuardedConnection::new(connection, Purpose::Write)
}

/// Opens one that has the file for itself, and closes it again: from then on, nobody keeps
/// in memory what was read of the file before.
///
/// # Errors
///
/// `DatabaseBusy` where anybody has the file open, in this process or in another.
pub(super) fn open_alone(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    // Before anything is read, it takes the place of the index that is shared.
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_query_value(None, "schema_version", |_| Ok(()))
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
        // A statement that is kept is not prepared anew because its parameters changed.
        (SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    use Limit::*;
    let length = i32::try_from(limits.max_bytes.max(LEAST_LENGTH)).unwrap_or(i32::MAX);
    for (limit, value) in [
        (SQLITE_LIMIT_LENGTH, length),
        (SQLITE_LIMIT_SQL_LENGTH, length.saturating_add(ADDED)),
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
