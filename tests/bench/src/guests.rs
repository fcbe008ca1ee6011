//! Handlers in other languages, built once: each gives its arguments back.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::ensure;

use crate::node::{self, NodeProject};
use crate::stage::Stage;

/// As pip knows it.
const COMPONENTIZE: &str = "componentize-py==0.25.1";

/// A component, or why there is none.
pub(crate) type Made = Result<PathBuf, &'static str>;

/// Made with componentize-js.
pub(crate) fn javascript(stage: &Stage) -> anyhow::Result<Made> {
    let made = stage.kept("javascript.wasm");
    let Some(project) = NodeProject::install(stage, "tests/guests/javascript")? else {
        return Ok(Err(node::MISSING));
    };
    let source = stage.source("tests/bench/guests/tool.js");
    if is_older(&made, &source) {
        let mut node = project.node("build.mjs");
        let status = node.arg(source).arg(stage.source("wit")).arg(&made).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "the component in JavaScript is not made");
    }
    Ok(Ok(made))
}

/// Made with componentize-py, in an environment of its own.
pub(crate) fn python(stage: &Stage) -> anyhow::Result<Made> {
    let (made, environment) = (stage.kept("python.wasm"), stage.kept("python"));
    let source = stage.source("tests/bench/guests/tool.py");
    if !is_older(&made, &source) {
        return Ok(Ok(made));
    }
    let done = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let tool = environment.join("bin/componentize-py");
    if !tool.is_file() {
        eprintln!("pip install {COMPONENTIZE} in {} …", environment.display());
        let pip = environment.join("bin/pip");
        if !done(Command::new("python3").args(["-m", "venv"]).arg(&environment))
            || !done(Command::new(pip).args(["install", "--quiet", COMPONENTIZE]))
        {
            return Ok(Err("componentize-py cannot be installed with Python's pip"));
        }
    }
    let mut command = Command::new(tool);
    command.arg("-d").arg(stage.source("wit")).args(["-w", "tool", "componentize", "tool"]);
    // Python leaves files beside its sources.
    let sources = stage.fresh_folder("python-sources")?;
    fs::copy(source, sources.join("tool.py"))?;
    command.arg("-p").arg(sources).arg("-o").arg(&made);
    ensure!(done(&mut command), "the component in Python is not made");
    Ok(Ok(made))
}

/// Whether `made` is missing, or older than its source.
fn is_older(made: &Path, source: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    changed(made) < changed(source)
}
