//! Programs in JavaScript, run with Node.js where there is one.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::ensure;

use crate::stage::Stage;

/// Why nothing in JavaScript is measured.
pub(crate) const MISSING: &str = "Node.js or npm is not installed";

/// A copy of a folder with a `package.json`, its packages installed.
pub(crate) struct NodeProject(PathBuf);

impl NodeProject {
    /// Installs a folder of the checkout, once for each lock file. None where Node.js
    /// or npm is missing.
    pub(crate) fn install(stage: &Stage, source: &str) -> anyhow::Result<Option<Self>> {
        let runs =
            |program| Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
        if !runs("node") || !runs("npm") {
            return Ok(None);
        }
        let project = stage.kept(&source.replace('/', "-"));
        let source = stage.source(source);
        fs::create_dir_all(&project)?;
        for file in fs::read_dir(&source)? {
            let file = file?;
            fs::copy(file.path(), project.join(file.file_name()))?;
        }
        let (lock, installed) = (fs::read(source.join("package-lock.json"))?, project.join("installed.json"));
        if fs::read(&installed).ok().as_ref() != Some(&lock) {
            eprintln!("npm ci in {} …", project.display());
            let mut npm = Command::new("npm");
            npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&project);
            // Standard output is for the table alone.
            let status = npm.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
            ensure!(status.success(), "npm ci failed");
            fs::write(installed, lock)?;
        }
        Ok(Some(Self(project)))
    }

    /// A program of it.
    pub(crate) fn node(&self, program: &str) -> Command {
        let mut node = Command::new("node");
        node.arg(program).current_dir(&self.0).env("NODE_ENV", "production").stdin(Stdio::null());
        node
    }
}
