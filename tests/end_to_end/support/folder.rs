//! A folder of a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where tests keep their files: on a disk, so that what is synced is synced.
pub(crate) const ROOT: &str = env!("CARGO_TARGET_TMPDIR");

/// A fresh folder, gone with its test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(ROOT).join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the tests can make folders");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it, with these contents.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).expect("the tests can write files");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of a test that failed lies in `target`.
        let _ = fs::remove_dir_all(&self.0);
    }
}
