//! Data folders, copied as a dead process leaves them.

use std::fs;
use std::path::Path;

/// Copies a folder with everything in it. What is written once, under a name of its
/// own, is linked: components, and what was compiled of them.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the tests can make folders");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let target = to.join(path.file_name().expect("it has a name"));
        let once = path.extension().is_some_and(|ending| ending == "wasm" || ending == "cwasm");
        if path.is_dir() {
            copy(&path, &target);
        } else if once {
            fs::hard_link(&path, &target).expect("files can be linked");
        } else {
            fs::copy(&path, &target).expect("files can be copied");
        }
    }
}
