//! A file that is there when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that `path` names, in its folder without links. Where it is a link to a file, that
/// one: the link stays.
pub(super) fn target(path: &Path) -> io::Result<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return Ok(found);
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name))
}

/// What is to be a file, beside it under another name; gone when this is dropped.
pub(super) struct Draft {
    file: Arc<File>,
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Begins the file `target`.
    pub(super) fn begin(target: PathBuf) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("tether-export-{:016x}.part", u64::from_ne_bytes(random));
        let path = target.with_file_name(name);
        let file = Arc::new(OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?);
        Ok(Self { file, path, target })
    }

    /// What is written to.
    pub(super) fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Gives it its name, once all of it is on the disk.
    pub(super) fn keep(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        File::open(folder)?.sync_all()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // When it was kept, nothing has this name any more.
        let _ = fs::remove_file(&self.path);
    }
}
