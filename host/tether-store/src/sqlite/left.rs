//! What a process that was killed left in the system's memory, and not on the disk.
//!
//! A COMMIT that was killed before its sync is there for the next process all the same:
//! SQLite reads it from the write-ahead log, and does not sync it. Nothing that is read
//! so may be told before it is durable, or the power could still take it back.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Error, ffi};

/// What was left of one database file.
pub(super) struct Left {
    path: PathBuf,
    synced: Mutex<bool>,
}

impl Left {
    /// Of the file at `path`; nothing is done yet.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, synced: Mutex::default() }
    }

    /// Syncs it, once. Called before any connection of this process reads. Blocks.
    ///
    /// # Errors
    ///
    /// It could not be synced: what the file says may not last.
    pub(super) fn sync(&self) -> rusqlite::Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if !*synced {
            sync(&self.path)?;
            *synced = true;
        }
        Ok(())
    }
}

/// See [`Left::sync`]; for a file that is opened once.
pub(super) fn sync(path: &Path) -> rusqlite::Result<()> {
    try_sync(path).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ffi::SQLITE_FULL,
            _ => ffi::SQLITE_IOERR_FSYNC,
        };
        let why = format!("what was written before could not be synced: {error}");
        Error::SqliteFailure(ffi::Error::new(code), Some(why))
    })
}

/// Its journals, and the names in its folder: the end of a journal is one. The file
/// itself is synced before these tell of it; and opened here, closing it would lose
/// SQLite's locks on it.
fn try_sync(path: &Path) -> io::Result<()> {
    for ending in ["-wal", "-journal"] {
        let mut journal = OsString::from(path);
        journal.push(ending);
        match File::options().read(true).write(cfg!(not(unix))).open(&journal) {
            Ok(journal) => journal.sync_all()?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes durable that the absolute `path` leads to its file: the names in all folders
/// above it, whoever made them, and however far that one came. Blocks.
pub(super) fn sync_names(path: &Path) -> io::Result<()> {
    path.ancestors().skip(1).try_for_each(sync_folder)
}

/// Makes the names in `folder` durable, where the system lets us: it does not with a
/// folder that only others may read, nor on some file systems. SQLite does without then
/// as well.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Elsewhere a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
