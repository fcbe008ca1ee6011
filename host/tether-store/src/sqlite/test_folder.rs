//! A folder that one test owns.

use std::path::PathBuf;

/// Gone when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let mut name = [0; 8];
        getrandom::fill(&mut name).unwrap();
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("tether-store-{name}"));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A path within.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
