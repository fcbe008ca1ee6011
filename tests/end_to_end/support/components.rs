//! The components that are served, built once for all tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The component's file, such as that of `tickets`.
pub(crate) fn component(name: &str) -> &'static Path {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let built = tether_build::build(&examples, &mut |line| eprintln!("{line} …"));
        let built = built.unwrap_or_else(|error| panic!("the components are not built: {error:#}"));
        let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        built.into_iter().map(|path| (name(&path), path)).collect()
    });
    built.get(name).unwrap_or_else(|| panic!("no component is called {name}; there are {:?}", built.keys()))
}
