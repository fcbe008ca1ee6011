//! A component in JavaScript: its `fetch` gets the transport policy without a line
//! of code.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::support::{Language, NodeProject};

/// The component, built once. None where Node.js is missing.
fn component() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let project = NodeProject::install("guests/javascript")?;
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let wit = fs::canonicalize(wit).expect("the contract is there");
        let component = project.path("javascript.wasm");
        project.run("build.mjs", &[Path::new("tool.js"), &wit, &component]);
        Some(component)
    });
    built.as_deref()
}

static JAVASCRIPT: Language = Language {
    component,
    get: "js_get",
    post: "js_post",
    spelled: |status, text| format!(r#"{{"status":{status},"text":"{text}"}}"#),
    starting: Mutex::new(()),
};

#[test]
fn fetch_in_a_read_is_repeated_and_carries_one_key() {
    JAVASCRIPT.check_that_a_read_is_repeated_with_one_key();
}

#[test]
fn fetch_in_a_write_is_sent_once_with_the_key_of_the_action() {
    JAVASCRIPT.check_that_a_write_sends_once_with_the_key_of_the_action();
}

#[test]
fn fetch_reaches_nothing_that_was_not_granted() {
    JAVASCRIPT.check_that_nothing_else_is_reached();
}
