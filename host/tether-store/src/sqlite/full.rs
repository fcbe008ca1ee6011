//! How SQLite says that a disk is full.

use std::io::ErrorKind;

use rusqlite::{Connection, Error, ErrorCode, ffi};

/// Whether `error`, the last one on `connection`, came from a full disk. SQLite has
/// a code for it, which a failed write gives; a failed sync, or a file that could
/// not be made, says only that I/O failed.
pub(super) fn is_full(connection: &Connection, error: &Error) -> bool {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => true,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            // SAFETY: the handle is valid as long as the connection that is borrowed
            // here, and this call only reads a number from it.
            let errno = unsafe { ffi::sqlite3_system_errno(connection.handle()) };
            let kind = std::io::Error::from_raw_os_error(errno).kind();
            matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
                || error.sqlite_extended_error_code() == Some(ffi::SQLITE_IOERR_SHMSIZE)
        }
        _ => false,
    }
}
