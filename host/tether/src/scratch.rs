//! A folder for the moment.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder of nobody else's, gone when this is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one in the system's folder for such things.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let path = std::env::temp_dir().join(format!("tether-{:016x}", u64::from_ne_bytes(bytes)));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it is in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
