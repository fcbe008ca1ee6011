//! The binary, run to its end.

use std::path::Path;
use std::process::{Command, Stdio};

/// The binary that is tested, with an environment of its own.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tether"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TETHER_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Its exit code; −1 where it was killed.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// It ended so, and said all these parts on standard error.
    #[track_caller]
    pub(crate) fn check(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing: {self:#?}");
        }
    }
}

/// Runs `tether` in `folder` to its end.
pub(crate) fn tether(folder: &Path, arguments: &[&str]) -> Ran {
    let output = command().current_dir(folder).args(arguments).output().expect("tether can be run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("tether speaks UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}
