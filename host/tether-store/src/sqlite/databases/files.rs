//! The files that are open, each once: whoever writes to one waits for one turn.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use tether_core::fault::{self, Point};
use tether_core::port::databases::{SqlError, SqlLimits};

use super::file::DatabaseFile;
use super::place::Place;
use super::room::Room;

/// Files that are kept open although nobody uses them. Each costs a few handles.
const KEPT: usize = 128;

/// Every open database file of a host.
pub(super) struct Files {
    data_dir: PathBuf,
    limits: SqlLimits,
    room: Arc<Room>,
    open: Mutex<HashMap<PathBuf, Arc<DatabaseFile>>>,
    /// The same by the paths that they were asked for by. Nobody waits here for a disk.
    asked: RwLock<HashMap<PathBuf, Weak<DatabaseFile>>>,
}

impl Files {
    /// None is open yet.
    pub(super) fn new(data_dir: PathBuf, limits: SqlLimits, room: Arc<Room>) -> Self {
        Self { data_dir, limits, room, open: Mutex::default(), asked: RwLock::default() }
    }

    /// The file that was at `place` when somebody last looked, if it is open.
    pub(super) fn open(&self, place: &Place) -> Option<Arc<DatabaseFile>> {
        let asked = self.asked.read().unwrap_or_else(PoisonError::into_inner);
        asked.get(&place.path).and_then(Weak::upgrade)
    }

    /// Whether `file` is the one at `place`. Looks at the name only.
    pub(super) fn holds(&self, place: &Place, file: &DatabaseFile) -> Result<bool, SqlError> {
        match fs::metadata(&place.path) {
            Ok(metadata) => Ok(metadata.is_file() && file.identity == Identity::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// The file at `place`; none if it is not there. Blocks.
    ///
    /// # Errors
    ///
    /// `Unreachable` where it cannot be looked at, `Other` where it is not to be used.
    pub(super) fn get(&self, place: &Place) -> Result<Option<Arc<DatabaseFile>>, SqlError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = match fs::metadata(&place.path) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => return Err(SqlError::Unreachable("it is no file".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&error)),
        };
        // Two paths to one file are one file, and one turn.
        let canonical = |path: &Path| fs::canonicalize(path).map_err(|error| unusable(&error));
        let path = canonical(&place.path)?;
        if !place.own && path.starts_with(canonical(&self.data_dir)?) {
            return Err(SqlError::Other("the database's file lies in Tether's own data folder".to_owned()));
        }
        let identity = Identity::of(&metadata);
        if let Some(file) = open.get(&path)
            && file.identity == identity
        {
            self.asked_for(place, file);
            return Ok(Some(file.clone()));
        }
        if open.len() >= KEPT {
            // These have no user; one who comes to it now finds another file in its place.
            open.retain(|_, file| Arc::strong_count(file) > 1);
        }
        let file = DatabaseFile::new(path.clone(), identity, place.own, self.limits, self.room.clone());
        open.insert(path, file.clone());
        self.asked_for(place, &file);
        Ok(Some(file))
    }

    fn asked_for(&self, place: &Place, file: &Arc<DatabaseFile>) {
        if self.open(place).is_some_and(|open| Arc::ptr_eq(&open, file)) {
            return;
        }
        let mut asked = self.asked.write().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, file| file.strong_count() > 0);
        asked.insert(place.path.clone(), Arc::downgrade(file));
    }

    /// Makes the file at `place`, empty, with the folders above it, unless it is
    /// there. Their names are not on the disk by that. Blocks.
    pub(super) fn make(&self, place: &Place) -> Result<(), SqlError> {
        self.try_make(place).map_err(|error| unusable(&error))
    }

    fn try_make(&self, place: &Place) -> io::Result<()> {
        // SQLite loses its locks on a file when anybody in this process closes it:
        // nobody may have opened this one before it is made.
        let _open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        fs::create_dir_all(place.path.parent().unwrap_or(&self.data_dir))?;
        match fs::File::create_new(&place.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => {
                fault::reached(Point::FileMade);
                Ok(())
            }
        }
    }
}

/// What is told of a file that the system refuses.
pub(super) fn unusable(error: &io::Error) -> SqlError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SqlError::StorageFull,
        _ => SqlError::Unreachable(format!("its file cannot be used: {error}")),
    }
}

/// What tells a file from another one that was put in its place. As long as the
/// first is open, its number is not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    /// An open file cannot be replaced there.
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Self {
        Self(0, 0)
    }
}
