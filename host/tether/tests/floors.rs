//! The floors of ARCHITECTURE.md: a crate uses the floors below it, and nothing
//! above or beside; and each large dependency has one crate that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Our crates, each with those of ours that it may use.
const FLOORS: [(&str, &[&str]); 12] = [
    ("tether-core", &[]),
    ("tether-store", &["tether-core"]),
    ("tether-transport", &["tether-core"]),
    ("tether-runner", &["tether-core", "tether-transport"]),
    ("tether-gateway", &["tether-core"]),
    (
        "tether",
        &[
            "tether-build",
            "tether-core",
            "tether-gateway",
            "tether-runner",
            "tether-store",
            "tether-transport",
        ],
    ),
    // Beside the house.
    ("tether-bench", &["tether", "tether-build"]),
    ("tether-build", &[]),
    ("tether-interleavings", &["tether-core"]),
    ("tether-near", &[]),
    ("tether-sdk", &["tether-sdk-macros"]),
    ("tether-sdk-macros", &[]),
];

/// Measures what the floors add to the large dependencies, and so names those bare.
const BENCH: &str = "tether-bench";

/// Dependencies that one crate alone may name.
const OWNERS: [(&str, &str); 6] = [
    ("wasmtime", "tether-runner"),
    ("wasmtime-wasi", "tether-runner"),
    ("wasmtime-wasi-http", "tether-runner"),
    ("reqwest", "tether-transport"),
    ("rmcp", "tether"),
    ("rusqlite", "tether-store"),
];

/// Each crate of the workspace with what it and its build script depend on; what
/// only its tests need is left out.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages.iter().map(|package| (text(&package["name"]), dependencies(package))).collect()
}

fn dependencies(package: &Value) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().expect("a list of dependencies");
    let shipped = all.iter().filter(|dependency| dependency["kind"] != "dev");
    // The name of the package, whatever it is renamed to.
    shipped.map(|dependency| text(&dependency["name"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn no_crate_uses_a_floor_that_it_may_not() {
    let crates = crates();
    for (name, dependencies) in &crates {
        let floor = FLOORS.iter().find(|(floor, _)| floor == name);
        let (_, allowed) =
            floor.unwrap_or_else(|| panic!("{name} has no place in the house; give it one here"));
        let ours = dependencies.iter().filter(|dependency| crates.contains_key(*dependency));
        let wrong: Vec<_> = ours.filter(|dependency| !allowed.contains(&dependency.as_str())).collect();
        assert!(wrong.is_empty(), "{name} may not use {wrong:?}; see ARCHITECTURE.md");
    }
    for (name, _) in FLOORS {
        assert!(crates.contains_key(name), "{name} is gone; take it out of this test");
    }
}

#[test]
fn each_large_dependency_has_one_crate_that_names_it() {
    for (name, dependencies) in crates().into_iter().filter(|(name, _)| name != BENCH) {
        for (dependency, owner) in OWNERS {
            let names_it = dependencies.contains(dependency);
            assert_eq!(names_it, name == owner, "{dependency} is named by {owner} alone, not by {name}");
        }
    }
}

/// Every file of Rust under `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

#[test]
fn in_the_roof_one_module_names_the_protocol_of_agents() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let named: Vec<_> = sources(&source)
        .into_iter()
        .filter(|path| fs::read_to_string(path).expect("it is text").contains("rmcp::"))
        .collect();
    assert!(!named.is_empty());
    for path in named {
        assert!(path.starts_with(source.join("mcp")), "{} names rmcp", path.display());
    }
}
