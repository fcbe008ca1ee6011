//! The environment of a nested cargo.

use std::env;
use std::process::Command;

/// Set by a cargo or a rustup around us for the sake of *its* package and tool
/// chain; a nested cargo would take them for its user's wishes.
const SET_BY_OTHERS: [&str; 9] = [
    "CARGO",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_MAKEFLAGS",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
    "CARGO_CRATE_NAME",
    "CARGO_BIN_NAME",
    "RUST_RECURSION_COUNT",
];

/// The same, by how they begin.
const SET_BY_OTHERS_AS: [&str; 4] = ["CARGO_PKG_", "CARGO_BIN_EXE_", "CARGO_CFG_", "CARGO_FEATURE_"];

/// Drops from `command`'s environment what a surrounding `cargo test`, `cargo
/// run` or build script put there. What the user set (`CARGO_HOME`, `RUSTFLAGS`,
/// `CARGO_NET_OFFLINE`, …) stays.
pub(crate) fn fresh(command: &mut Command) {
    let given = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in given.filter(|name| is_set_by_others(name)) {
        command.env_remove(name);
    }
}

fn is_set_by_others(name: &str) -> bool {
    SET_BY_OTHERS.contains(&name) || SET_BY_OTHERS_AS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_set_stays() {
        for name in
            ["CARGO_HOME", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_NET_OFFLINE", "RUSTUP_TOOLCHAIN", "PATH"]
        {
            assert!(!is_set_by_others(name), "{name}");
        }
        for name in ["CARGO", "CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(is_set_by_others(name), "{name}");
        }
    }
}
