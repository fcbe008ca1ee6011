//! MCP's own conformance suite against the running server: what applies passes, and what does
//! not is listed in `tests/mcp/not_applicable.md`, each with its reason.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::mcp::BOTH;
use crate::mcp::clients::javascript;
use crate::support::{Api, Server, Setup};

/// Older revisions, for which it has scenarios and no set of requirements.
const OLDER: [&str; 2] = ["2025-06-18", "2025-03-26"];

/// A time, as it ends the name of a scenario's folder.
const TIME: &str = "-2026-07-28T12-00-00-000Z";

/// Writes about which the suite's client itself decides, in a form.
const BY_FORM: [&str; 6] = [
    "confirm_delete",
    "test_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_streaming_elicitation",
];

/// Writes about which a person decides meanwhile.
const BY_A_PERSON: [&str; 2] = ["failing_job", "slow_compute"];

/// What does not apply to a revision.
struct Exception {
    /// `scenario`, or `scenario:check`.
    entry: String,
    why: String,
}

impl Exception {
    fn is_of(&self, failure: &Failure) -> bool {
        let (scenario, check) = match self.entry.split_once(':') {
            Some((scenario, check)) => (scenario, Some(check)),
            None => (self.entry.as_str(), None),
        };
        scenario == failure.scenario && check.is_none_or(|check| check == failure.check)
    }
}

/// A check that did not pass, or gave a warning.
#[derive(Debug)]
struct Failure {
    scenario: String,
    check: String,
    #[expect(dead_code, reason = "printed where it is not expected")]
    message: String,
}

fn exceptions(revision: &str) -> Vec<Exception> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/not_applicable.md");
    let list = fs::read_to_string(list).expect("the list is there");
    let (mut why, mut found) = (String::new(), Vec::new());
    for line in list.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut why);
        }
        let Some(line) = line.strip_prefix("- ") else { continue };
        let entry = line.strip_prefix('`').and_then(|line| line.split_once("`: "));
        let (entry, revisions) = entry.unwrap_or_else(|| panic!("no entry: {line}"));
        for named in revisions.split(", ") {
            assert!(BOTH.contains(&named) || OLDER.contains(&named), "no revision of the suite: {line}");
            if named == revision {
                found.push(Exception { entry: entry.to_owned(), why: why.clone() });
            }
        }
    }
    found
}

/// What failed of what the suite wrote down: a folder for each scenario, named after it and
/// the time.
fn failures(results: &Path) -> Vec<Failure> {
    let mut failures = Vec::new();
    for folder in fs::read_dir(results).expect("the suite wrote something").map_while(Result::ok) {
        let name = folder.file_name().to_string_lossy().into_owned();
        let scenario = name.strip_prefix("server-").and_then(|name| name.get(..name.len() - TIME.len()));
        let scenario = scenario.unwrap_or_else(|| panic!("no results of a scenario: {name}"));
        let checks = fs::read(folder.path().join("checks.json")).expect("it has checks");
        let checks: Vec<Value> = serde_json::from_slice(&checks).expect("they are JSON");
        for check in checks {
            let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
            if ["FAILURE", "WARNING"].contains(&text("status").as_str()) {
                let (check, message) = (text("id"), text("errorMessage"));
                failures.push(Failure { scenario: scenario.to_owned(), check, message });
            }
        }
    }
    failures
}

fn serving() -> Server {
    let rules = BY_FORM.map(|tool| format!("[[rules]]\ntool = \"{tool}\"\nform_confirms = true\n"));
    Setup::of(&["conformance"]).config("tether.toml", &rules.concat()).start()
}

/// Says yes to everything that only a person decides, until it is `over`.
fn confirm_until(over: &AtomicBool, api: &Api) {
    while !over.load(Ordering::Relaxed) {
        let waiting = api.get("/v1/actions?status=Pending&limit=100");
        for action in waiting.body["actions"].as_array().into_iter().flatten() {
            let tool = action["commandType"].as_str().unwrap_or_default();
            if BY_A_PERSON.contains(&tool) {
                api.confirm(action["actionId"].as_str().unwrap_or_default(), "{}");
            }
        }
        thread::park_timeout(Duration::from_millis(100));
    }
}

#[track_caller]
fn check_that_what_applies_passes(revision: &str) {
    let Some(packages) = javascript() else { return };
    let server = serving();
    let (port, token) = (server.api.address.port().to_string(), &server.api.token);
    let proxy = packages.serve("with_token.mjs", &[Path::new(&port), Path::new(token)]);
    let results = server.setup.folder().path().join("results");
    let mut suite = packages
        .command("node_modules/@modelcontextprotocol/conformance/dist/index.js", &[Path::new("server")]);
    suite.args(["--url", &format!("http://127.0.0.1:{}/mcp", proxy.port)]);
    match BOTH.contains(&revision) {
        true => suite.args(["--requirements", revision]),
        false => suite.args(["--suite", "all", "--spec-version", revision]),
    };
    suite.arg("--output-dir").arg(&results);
    let over = AtomicBool::new(false);
    let ran = thread::scope(|threads| {
        threads.spawn(|| confirm_until(&over, &server.api));
        let ran = suite.output();
        over.store(true, Ordering::Relaxed);
        ran.expect("the suite can be run")
    });
    let said = String::from_utf8_lossy(&ran.stdout);
    let total = said.lines().find(|line| line.starts_with("Total: "));
    let total = total.unwrap_or_else(|| panic!("it did not come to its end: {ran:?}"));
    eprintln!("{revision}: {total}");

    let (exceptions, failures) = (exceptions(revision), failures(&results));
    let applies: Vec<_> = failures
        .iter()
        .filter(|failure| !exceptions.iter().any(|exception| exception.is_of(failure)))
        .collect();
    assert!(applies.is_empty(), "{applies:#?}");
    for exception in &exceptions {
        let Exception { entry, why } = exception;
        assert!(
            failures.iter().any(|failure| exception.is_of(failure)),
            "{revision}: {entry} is said not to apply, and does not fail"
        );
        eprintln!("{revision}, does not apply: {entry}: {why}");
    }
}

#[test]
fn what_applies_of_the_suite_for_sessions_passes() {
    check_that_what_applies_passes(BOTH[0]);
}

#[test]
fn what_applies_of_the_suite_without_sessions_passes() {
    check_that_what_applies_passes(BOTH[1]);
}

#[test]
fn what_applies_of_the_suite_for_older_sessions_passes() {
    for revision in OLDER {
        check_that_what_applies_passes(revision);
    }
}
