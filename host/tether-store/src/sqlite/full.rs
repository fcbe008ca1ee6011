//! How SQLite says that a disk is full.

use std::io::ErrorKind;

use rusqlite::{Connection, Error, ErrorCode, ffi};

/// Whether `error` itself says so.
pub(super) fn says_full(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        // The index of a write-ahead log could not be made larger.
        || error.sqlite_extended_error_code() == Some(ffi::SQLITE_IOERR_SHMSIZE)
}

/// Whether `error`, the last one on `connection`, came from a full disk. A failed
/// write says so; a failed sync, or a file that could not be made, says only that I/O
/// failed, and the system's own number says why.
pub(super) fn is_full(connection: &Connection, error: &Error) -> bool {
    let failed =
        matches!(error.sqlite_error_code(), Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen));
    says_full(error)
        || failed && matches!(last_failure(connection), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn last_failure(connection: &Connection) -> ErrorKind {
    // SAFETY: the handle is valid as long as the connection that is borrowed here, and
    // this call only reads a number from it.
    let errno = unsafe { ffi::sqlite3_system_errno(connection.handle()) };
    std::io::Error::from_raw_os_error(errno).kind()
}
