//! The folder that holds everything Tether keeps, and the lock on it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that says who has the folder. It makes the folder one of ours, too.
const HOLDER: &str = "lock";

/// A data folder that this process alone uses, for as long as this lives.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    /// The folder itself: no file in it can be removed or replaced under the lock.
    /// Closing it, also by dying, ends the lock.
    _locked: File,
}

/// The folder cannot be used; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process has it.
    #[error(
        "the data folder {path} is in use by another tether{}; stop that one, or give this one another \
         folder with --data-dir",
        by.as_deref().map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    Locked {
        /// The folder.
        path: String,
        /// The other process.
        by: Option<String>,
    },
    /// It cannot be made, or not be written to.
    #[error(
        "the data folder {path} cannot be used; it must be a folder that this user can write to, \
         and --data-dir names another one"
    )]
    Unusable {
        /// The folder.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl DataFolder {
    /// Takes the folder at `path`, made where there is none.
    ///
    /// # Errors
    ///
    /// Where another process has it, or it cannot be written to.
    pub fn take(path: &Path) -> Result<Self, FolderError> {
        let unusable = |source| FolderError::Unusable { path: path.display().to_string(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let ours = is_ours(path).map_err(unusable)?;
        let holder = path.join(HOLDER);
        let folder = File::open(path).map_err(unusable)?;
        match folder.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let by = fs::read_to_string(holder).ok();
                let by = by.map(|pid| pid.trim().to_owned()).filter(|pid| !pid.is_empty());
                return Err(FolderError::Locked { path: path.display().to_string(), by });
            }
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        if ours {
            fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(unusable)?;
        } else {
            tracing::warn!(folder = %path.display(), "the data folder holds other files, so its permissions stay");
        }
        sign(&holder).map_err(unusable)?;
        // What is configured may be relative; what is kept outlives a change of folder.
        let path = path.canonicalize().map_err(unusable)?;
        Ok(Self { path, _locked: folder })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether the folder is empty or was a data folder before. In somebody else's
/// folder, such as `/tmp`, permissions are not for us to change.
fn is_ours(path: &Path) -> io::Result<bool> {
    if path.join(HOLDER).exists() {
        return Ok(true);
    }
    for entry in fs::read_dir(path)? {
        // A fresh file system is not quite empty.
        if entry?.file_name() != "lost+found" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes down who has it, for the message that the next one gets.
fn sign(holder: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(holder)?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn one_process_at_a_time() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("a/b");
        let folder = DataFolder::take(&path).unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);

        let error = DataFolder::take(&path).unwrap_err();
        assert!(matches!(error, FolderError::Locked { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("a/b") && text.contains(&std::process::id().to_string()), "{text}");

        drop(folder);
        assert!(DataFolder::take(&path).is_ok());
    }

    #[test]
    fn a_file_that_is_removed_or_replaced_lets_no_second_one_in() {
        let scratch = Scratch::new().unwrap();
        let folder = DataFolder::take(scratch.path()).unwrap();
        let holder = scratch.path().join(HOLDER);
        fs::remove_file(&holder).unwrap();
        assert!(matches!(DataFolder::take(scratch.path()), Err(FolderError::Locked { by: None, .. })));
        fs::write(&holder, "").unwrap();
        assert!(matches!(DataFolder::take(scratch.path()), Err(FolderError::Locked { by: None, .. })));
        drop(folder);
        assert!(DataFolder::take(scratch.path()).is_ok());
    }

    #[test]
    fn a_folder_of_somebody_else_keeps_its_permissions() {
        let scratch = Scratch::new().unwrap();
        fs::write(scratch.path().join("letter.txt"), "x").unwrap();
        fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = DataFolder::take(scratch.path()).unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_file_is_no_folder() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("file");
        fs::write(&path, "x").unwrap();
        let error = DataFolder::take(&path).unwrap_err();
        assert!(matches!(error, FolderError::Unusable { .. }), "{error:?}");
    }
}
