//! Room on the disks that hold databases. A disk that was found full is tried out
//! before another attempt of somebody's is used up on it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tether_core::port::databases::SqlError;

/// What is written to see whether there is room: 64 pages. Less would let attempts
/// begin that cannot end.
const PROBE_BYTES: usize = 256 << 10;

type Probe = Box<dyn Fn(&Path) -> io::Result<()> + Send + Sync>;

/// Which database files were found full. It forgets a file once there is room.
pub(super) struct Room {
    full: Mutex<HashSet<PathBuf>>,
    /// Held while a disk is tried out: one at a time.
    probe: Mutex<Probe>,
}

impl Room {
    /// No disk is known to be full; `probe` tries one out, beside a database file.
    pub(super) fn new(probe: impl Fn(&Path) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { full: Mutex::default(), probe: Mutex::new(Box::new(probe)) }
    }

    /// Remembers where a `result` of the database file at `path` says that its disk is
    /// full.
    pub(super) fn heed<T>(&self, path: &Path, result: Result<T, SqlError>) -> Result<T, SqlError> {
        if matches!(result, Err(SqlError::StorageFull)) {
            self.full().insert(path.to_owned());
        }
        result
    }

    /// Whether the disk at `path` was found full, and nobody has found room since.
    pub(super) fn was_full(&self, path: &Path) -> bool {
        self.full().contains(path)
    }

    /// Whether there is room beside `path`, as far as anybody knows. Blocks where it
    /// was found full before.
    pub(super) fn is_left(&self, path: &Path) -> bool {
        if !self.was_full(path) {
            return true;
        }
        let probe = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
        // Where it cannot be tried out, the attempt will tell.
        let full = matches!(
            probe(path).map_err(|error| error.kind()),
            Err(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        );
        if !full {
            self.full().remove(path);
        }
        !full
    }

    fn full(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a file beside the database at `path`, or where its folder would be made, and
/// removes it. What a crash leaves is overwritten by the next one.
pub(super) fn write_and_remove(path: &Path) -> io::Result<()> {
    let Some(folder) = path.ancestors().skip(1).find(|above| above.is_dir()) else { return Ok(()) };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-tether-room");
    let probe = folder.join(name);
    let written = File::create(&probe).and_then(|mut file| {
        // Not zeros: some file systems keep those for nothing.
        file.write_all(&[0xA5; PROBE_BYTES])?;
        file.sync_all()
    });
    match fs::remove_file(&probe) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => written.and(Err(error)),
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_folder::Folder;

    #[test]
    fn a_probe_leaves_nothing_behind_and_needs_no_folder() {
        let folder = Folder::new();
        for path in ["main.db", "databases/tickets/acme/main.db"] {
            write_and_remove(&folder.path(path)).unwrap();
            assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0, "{path}");
        }
    }
}
