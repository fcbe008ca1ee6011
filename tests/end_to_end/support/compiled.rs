//! Compiled components, lent from test to test: each server has a data folder of
//! its own, and compiling takes longer than most tests.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::ROOT;

/// Puts what was compiled before into a data folder that is new.
pub(crate) fn lend(data: &Path) {
    if data.exists() {
        return;
    }
    let cache = data.join("cache");
    fs::create_dir_all(&cache).expect("the tests can make folders");
    // So it is a data folder, and nobody else's.
    fs::write(data.join("lock"), "").expect("the tests can write files");
    link_all(&shelf(), &cache);
}

/// Takes in what a server has compiled.
pub(crate) fn collect(data: &Path) {
    link_all(&data.join("cache"), &shelf());
}

fn shelf() -> PathBuf {
    let shelf = Path::new(ROOT).join("compiled");
    fs::create_dir_all(&shelf).expect("the tests can make folders");
    shelf
}

/// A file that is there already stays: its name says what it holds.
fn link_all(from: &Path, to: &Path) {
    for file in fs::read_dir(from).into_iter().flatten().flatten() {
        if !file.file_name().to_string_lossy().starts_with('.') {
            let _ = fs::hard_link(file.path(), to.join(file.file_name()));
        }
    }
}
