//! Packages of Python, in an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::folder::ROOT;
use super::missing::run;

/// Installs what `requirements` names, with its hashes, in `target/tmp/NAME`; what was
/// installed from the same file is there from earlier runs. The folder with its programs,
/// or what is not to be had. One at a time for each name.
pub(crate) fn python_packages(name: &str, requirements: &Path) -> Result<PathBuf, String> {
    let folder = Path::new(ROOT).join(name);
    let (programs, stamp) = (folder.join("bin"), folder.join("installed.txt"));
    let wanted = fs::read(requirements).expect("the requirements are there");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(programs.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--require-hashes", "--only-binary=:all:", "--requirement"]);
    run(pip.arg(requirements))?;
    fs::write(stamp, wanted).expect("the tests can write files");
    Ok(programs)
}
