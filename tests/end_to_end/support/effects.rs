//! Effects, counted where they land: in the file of a component's database.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// A row that a tool of `probe` left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The idempotency key that its handler saw.
    pub(crate) key: String,
    /// The attempt that left it.
    pub(crate) attempt: u32,
    /// What the handler was told to write.
    pub(crate) note: String,
}

/// Opens an SQLite file that a server may have open, for looking only.
#[track_caller]
pub(crate) fn open_read_only(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    let connection =
        connection.unwrap_or_else(|error| panic!("{} cannot be opened: {error}", path.display()));
    connection.busy_timeout(super::log::PATIENCE).expect("a time is a time");
    connection
}

/// Every effect in a database of `probe`, oldest first; none where the database
/// was never used.
pub(crate) fn effects(path: &Path) -> Vec<Effect> {
    if !path.exists() {
        return Vec::new();
    }
    let connection = open_read_only(path);
    // A file that was made has its tables only after the first transaction.
    let Ok(mut statement) = connection.prepare("SELECT key, attempt, note FROM effects ORDER BY id") else {
        return Vec::new();
    };
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Effect { key: row.get("key")?, attempt: row.get("attempt")?, note: row.get("note")? })
    };
    let rows = statement.query_map([], read).and_then(Iterator::collect);
    rows.expect("the table of effects can be read")
}
