//! What the store's group commit is given here: a log on a disk that the checker knows.

pub(crate) mod databases;
pub(crate) mod meet;

use std::future::pending;

pub(crate) mod left {
    use std::path::{Path, PathBuf};

    pub(crate) fn log_of(path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// The checker's tasks may block.
async fn in_place<T>(work: impl FnOnce() -> T) -> T {
    work()
}

async fn never<T>() -> T {
    pending().await
}
