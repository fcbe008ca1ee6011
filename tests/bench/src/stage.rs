//! Where everything is measured, and what is made there once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

/// The folders, the binary that is measured, and how long to measure.
pub(crate) struct Stage {
    pub(crate) quick: bool,
    /// The checkout.
    checkout: PathBuf,
    /// `target/bench`: on the disk that is measured; what takes long to make stays in it.
    folder: PathBuf,
    /// A folder in it for this run, gone with it.
    run: PathBuf,
    tether: PathBuf,
    components: BTreeMap<String, PathBuf>,
}

impl Stage {
    /// Makes the folder, and builds the server for release, unless it is given, and
    /// the components.
    pub(crate) fn set_up(quick: bool, tether: Option<PathBuf>) -> anyhow::Result<Self> {
        let checkout = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
        let here = std::env::current_exe()?;
        let target = here.ancestors().nth(2).context("this program lies in no target folder")?;
        let folder = target.join("bench");
        let run = folder.join(format!("run-{}", std::process::id()));
        fs::create_dir_all(&run)?;
        let tether = match tether {
            Some(tether) => {
                fs::canonicalize(&tether).with_context(|| format!("there is no {}", tether.display()))?
            }
            None => build(&checkout, target)?,
        };
        let built = tether_build::build(&checkout.join("examples"), &mut |line| eprintln!("{line} …"))?;
        let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let components = built.into_iter().map(|path| (name(&path), path)).collect();
        Ok(Self { quick, checkout, folder, run, tether, components })
    }

    /// The server's binary.
    pub(crate) fn tether(&self) -> &Path {
        &self.tether
    }

    /// A component of `examples`, such as `tickets`.
    pub(crate) fn component(&self, name: &str) -> anyhow::Result<&Path> {
        self.components
            .get(name)
            .map(PathBuf::as_path)
            .with_context(|| format!("there is no component {name}"))
    }

    /// A file or folder of the checkout.
    pub(crate) fn source(&self, path: &str) -> PathBuf {
        self.checkout.join(path)
    }

    /// Where what is made once is kept.
    pub(crate) fn kept(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A path under which there is nothing yet, for files of this run.
    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }

    /// As `fresh`, and there is an empty folder.
    pub(crate) fn fresh_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.fresh(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// One of two, the second where it has to be quick.
    pub(crate) fn either<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Rounds of what is measured in turn.
    pub(crate) fn rounds(&self) -> usize {
        self.either(9, 3)
    }

    /// Rounds of what takes a part of a second only.
    pub(crate) fn short_rounds(&self) -> usize {
        self.either(45, 15)
    }

    /// The length of a round of load.
    pub(crate) fn round(&self) -> Duration {
        self.either(Duration::from_secs(3), Duration::from_millis(1_500))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What is left of it is in the way of nobody.
        let _ = fs::remove_dir_all(&self.run);
    }
}

/// Builds the server as it is shipped; next to nothing where that was done.
fn build(checkout: &Path, target: &Path) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "-p", "tether", "--target-dir"]).arg(target);
    let status =
        command.current_dir(checkout).stdin(Stdio::null()).status().context("cargo cannot be run")?;
    ensure!(status.success(), "the server does not compile");
    Ok(target.join("release/tether"))
}
