//! What a process that was killed left in the system's memory, and not on the disk.
//!
//! A COMMIT that was killed before its sync is there for the next process all the same:
//! SQLite reads it from the write-ahead log, and does not sync it. Nothing that is read
//! so may be told before it is durable, or the power could still take it back.
//!
//! Nor is a sync alone enough. A system whose sync failed may take what it could not
//! write for written: the next sync has nothing to do, and says that all is well. To
//! start Tether again is the first thing that comes to mind when a disk has trouble; so
//! the logs that are ours are written again, over themselves, before they are synced.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Error, ffi};

/// Bytes that are written again at a time.
const PIECE: usize = 1 << 20;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Only Tether writes to it, one process at a time.
    Ours,
    /// Others may be writing to it now.
    Others,
}

/// What was left of one database file.
pub(super) struct Left {
    path: PathBuf,
    whose: Whose,
    synced: Mutex<bool>,
}

impl Left {
    /// Of the file at `path`; nothing is done yet.
    pub(super) fn of(path: PathBuf, whose: Whose) -> Self {
        Self { path, whose, synced: Mutex::default() }
    }

    /// Syncs it, once. Called before any connection of this process reads. Blocks.
    ///
    /// # Errors
    ///
    /// It could not be synced: what the file says may not last.
    pub(super) fn sync(&self) -> rusqlite::Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if !*synced {
            sync(&self.path, self.whose)?;
            *synced = true;
        }
        Ok(())
    }
}

/// See [`Left::sync`]; for a file that is opened once.
pub(super) fn sync(path: &Path, whose: Whose) -> rusqlite::Result<()> {
    try_sync(path, whose).map_err(not_synced)
}

/// Makes durable that the file at `path`, which somebody else made, has the journal that is
/// open: without its name, nothing undoes a COMMIT that the power cuts short. SQLite syncs
/// the folder as well, and goes on where that fails.
pub(super) fn sync_name_of_journal(path: &Path) -> rusqlite::Result<()> {
    sync_folder_of(path).map_err(not_synced)
}

fn not_synced(error: io::Error) -> Error {
    let code = match is_full(&error) {
        true => ffi::SQLITE_FULL,
        false => ffi::SQLITE_IOERR_FSYNC,
    };
    let why = format!("what was written before could not be synced: {error}");
    Error::SqliteFailure(ffi::Error::new(code), Some(why))
}

/// Its journals, and the names in its folder: the end of a journal is one. The file
/// itself is synced before these tell of it; and opened here, closing it would lose
/// SQLite's locks on it.
fn try_sync(path: &Path, whose: Whose) -> io::Result<()> {
    match whose {
        Whose::Ours => match write_log_again(path) {
            // Some file systems need room even for that. Then its sync has to do, or
            // nothing could be opened on a full disk.
            Err(error) if is_full(&error) => sync_journal(&log_of(path))?,
            written => written?,
        },
        Whose::Others => sync_journal(&log_of(path))?,
    }
    sync_journal(&beside(path, "-journal"))?;
    sync_folder_of(path)
}

/// Makes durable which names are beside the file at `path`. Blocks.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// The write-ahead log of the database file at `path`.
pub(super) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// Writes the write-ahead log of the database file at `path`, which is ours, over
/// itself, and syncs it: whatever the system takes for written by now. Nobody writes to
/// it meanwhile. Blocks.
pub(super) fn write_log_again(path: &Path) -> io::Result<()> {
    let mut log = match File::options().read(true).write(true).open(log_of(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        log => log?,
    };
    let (mut piece, mut at) = (vec![0; PIECE], 0);
    loop {
        log.seek(SeekFrom::Start(at))?;
        let length = log.read(&mut piece)?;
        if length == 0 {
            return log.sync_all();
        }
        log.seek(SeekFrom::Start(at))?;
        log.write_all(&piece[..length])?;
        at += length as u64;
    }
}

fn sync_journal(path: &Path) -> io::Result<()> {
    match File::options().read(true).write(cfg!(not(unix))).open(path) {
        Ok(journal) => journal.sync_all(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
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
