//! What tests need of others, and what happens where it is not to be had.

use std::env;
use std::process::{Command, Stdio};

/// None, and a printed reason, where it is not to be had.
///
/// # Panics
///
/// There, with `TETHER_REQUIRE_CLIENTS` in the environment: then nothing may be skipped.
#[track_caller]
pub(crate) fn or_skipped<T>(found: Result<T, String>) -> Option<T> {
    found
        .map_err(|why| {
            assert!(env::var_os("TETHER_REQUIRE_CLIENTS").is_none(), "this test may not be skipped: {why}");
            eprintln!("skipped: {why}");
        })
        .ok()
}

/// Runs it to its end. The error says what could not be run, and what it said last.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last =
        said.lines().rev().take(10).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
    if output.status.success() { Ok(()) } else { Err(format!("{program}: {last}")) }
}
