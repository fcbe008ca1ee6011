//! From a folder of Rust to WebAssembly components.
//!
//! [`build`] is what `tether build` does, and what the demonstration and the
//! tests use: it sees to the compile target, runs cargo, and says which
//! components there are then.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

mod artefacts;
mod environment;

/// What components are built for: WASI 0.2.
const TARGET: &str = "wasm32-wasip2";

/// Builds the package or workspace in `folder` for release, and returns the
/// components that it makes, sorted. What takes longer is told to `progress`,
/// one line at a time; what the compiler says goes to standard error.
///
/// Installs the target `wasm32-wasip2` where it is missing and rustup is there.
///
/// # Errors
///
/// When there is no Rust, the target cannot be installed, the code does not
/// compile, or no component comes of it; the text says what to do.
pub fn build(folder: &Path, progress: &mut dyn FnMut(&str)) -> anyhow::Result<Vec<PathBuf>> {
    ensure!(
        folder.join("Cargo.toml").is_file(),
        "{} holds no Cargo.toml; give the folder of a Rust package",
        folder.display()
    );
    ensure_target(folder, progress)?;
    progress(&format!("compiling {} for {TARGET}", folder.display()));
    let mut cargo = tool("cargo", folder);
    cargo
        .args(["build", "--release", "--target", TARGET, "--message-format=json-render-diagnostics"])
        .stdout(Stdio::piped());
    let child = cargo.spawn().with_context(|| missing("cargo"))?;
    let output = child.wait_with_output().context("cargo could not be waited for")?;
    ensure!(
        output.status.success(),
        "{} does not compile; see what the compiler says above",
        folder.display()
    );
    let components = artefacts::components(&output.stdout)?;
    ensure!(
        !components.is_empty(),
        "{} makes no component; its Cargo.toml needs `crate-type = [\"cdylib\"]` under [lib]",
        folder.display()
    );
    Ok(components)
}

/// Installs the target where it is missing.
fn ensure_target(folder: &Path, progress: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    if has_target(folder)? {
        return Ok(());
    }
    progress(&format!("installing the target {TARGET} (rustup target add {TARGET})"));
    let by_hand =
        format!("install it, so that `rustc --print target-libdir --target {TARGET}` names a folder");
    match tool("rustup", folder).args(["target", "add", TARGET]).stdout(Stdio::null()).status() {
        Err(error) => bail!(
            "the Rust target {TARGET} is missing, and rustup, which would install it, cannot be run ({error}); \
             get rustup from https://rustup.rs, or {by_hand}"
        ),
        Ok(status) if !status.success() => {
            bail!("`rustup target add {TARGET}` failed; see what it says above. Without a network, {by_hand}")
        }
        Ok(_) => {}
    }
    ensure!(
        has_target(folder)?,
        "rustup installed the target {TARGET}, but not for the `rustc` that is used here; {by_hand}"
    );
    Ok(())
}

/// Whether the compiler that the folder uses has the target's libraries.
fn has_target(folder: &Path) -> anyhow::Result<bool> {
    let output = tool("rustc", folder)
        .args(["--print", "target-libdir", "--target", TARGET])
        .stderr(Stdio::null())
        .output()
        .with_context(|| missing("rustc"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(printed.trim()).is_dir())
}

/// A command that runs in `folder` as if from a fresh shell.
fn tool(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).stdin(Stdio::null());
    environment::fresh(&mut command);
    command
}

fn missing(tool: &str) -> String {
    format!("`{tool}` cannot be run; install Rust from https://rustup.rs, and see that it is in PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_no_package_is_told_so() {
        let error = build(Path::new("/nowhere/at/all"), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all holds no Cargo.toml"), "{error}");
    }
}
