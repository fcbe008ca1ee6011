//! A component in Python: `requests` gets the transport policy with the adapter for
//! `wasi:http` that others wrote, and nothing of ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::support::{Language, or_skipped, python_packages, run};

/// Where it is built; what was built for the same sources is there from earlier runs.
/// Each build is another to the last byte, and compiling one takes a minute or more.
const WORKSHOP: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/guests-python");

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The component, built once. None, and a printed reason, where Python or its packages
/// are not to be had.
fn component() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        or_skipped(build().map_err(|why| format!("this test needs a component in Python; {why}")))
    });
    built.as_deref()
}

fn build() -> Result<PathBuf, String> {
    let workshop = Path::new(WORKSHOP);
    let (component, stamp) = (workshop.join("python.wasm"), workshop.join("sources"));
    let sources = sources();
    if component.exists() && fs::read(&stamp).is_ok_and(|built| built == sources) {
        return Ok(component);
    }
    fs::create_dir_all(workshop).expect("the tests can make folders");
    let programs = python_packages("guests-python-venv", &source("tests/guests/python/requirements.txt"))?;
    let mut generator = Command::new(programs.join("componentize-py"));
    generator
        .env("VIRTUAL_ENV", programs.parent().expect("it is in a folder"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    generator.arg("-d").arg(source("wit")).arg("-d").arg(source("tests/guests/python/wit"));
    generator.args(["-w", "tether:python/python"]);
    // The adapter knows the module of `wasi:http` by this name.
    generator.args(["--import-interface-name", "wasi:http/types@0.2.0=types"]);
    generator.args(["--import-interface-name", "tether:tool/types@0.1.0=tool_types"]);
    generator.args(["componentize", "tool", "-p"]).arg(source("tests/guests/python"));
    let built = run(generator.arg("-o").arg(&component));
    built.unwrap_or_else(|why| panic!("its sources are ours, and are not built: {why}"));
    fs::write(stamp, sources).expect("the tests can write files");
    Ok(component)
}

/// Everything that the component is built of.
fn sources() -> Vec<u8> {
    let guest = ["requirements.txt", "tool.py", "wit/python.wit"];
    let guest = guest.iter().map(|name| source("tests/guests/python").join(name));
    let mut contract: Vec<_> =
        fs::read_dir(source("wit")).expect("the contract is there").map_while(Result::ok).collect();
    contract.sort_by_key(fs::DirEntry::file_name);
    let all = guest.chain(contract.iter().map(fs::DirEntry::path));
    all.flat_map(|path| fs::read(path).expect("it can be read")).collect()
}

static PYTHON: Language = Language {
    component,
    get: "py_get",
    post: "py_post",
    spelled: |status, text| format!(r#"{{"status": {status}, "text": "{text}"}}"#),
    starting: Mutex::new(()),
};

#[test]
fn requests_in_a_read_are_repeated_and_carry_one_key() {
    PYTHON.check_that_a_read_is_repeated_with_one_key();
}

#[test]
fn a_request_in_a_write_is_sent_once_with_the_key_of_the_action() {
    PYTHON.check_that_a_write_sends_once_with_the_key_of_the_action();
}

#[test]
fn a_request_reaches_nothing_that_was_not_granted() {
    PYTHON.check_that_nothing_else_is_reached();
}
