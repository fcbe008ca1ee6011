//! The command line, as a person and as a program uses it.

use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, Ran, Server, Setup, component, tether};

/// A command that talks to the server.
fn ask(server: &Server, arguments: &[&str]) -> Ran {
    let url = format!("http://{}", server.api.address);
    let data = server.setup.data().to_string_lossy();
    let connection = ["--url", &url, "--data-dir", &data];
    tether(server.setup.folder().path(), &[arguments, &connection[..]].concat())
}

/// The same with `--json`: exit code 0, and one JSON value.
#[track_caller]
fn ask_json(server: &Server, arguments: &[&str]) -> Value {
    let ran = ask(server, &[arguments, &["--json"]].concat());
    ran.check(0, &[]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn inspect_tells_what_a_component_offers() {
    let folder = Folder::new();
    let file = component("tickets").to_str().unwrap();
    let ran = tether(folder.path(), &["inspect", file]);
    ran.check(0, &[]);
    for part in [
        "tickets  sha256:",
        "void_ticket  (write:",
        "get_ticket  (read:",
        "ticket_id",
        "`0001-tickets`",
        "asks of the host",
        "tether:tool/database@0.1.0  (",
    ] {
        assert!(ran.stdout.contains(part), "{part:?} is missing in:\n{}", ran.stdout);
    }
    let ran = tether(folder.path(), &["inspect", file, "--json"]);
    let manifest: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(manifest["name"], "tickets");
    let tools: Vec<_> = manifest["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(tools, ["get_ticket", "list_tickets", "open_ticket", "void_ticket"]);
    assert_eq!(manifest["migrations"][0]["id"], "0001-tickets");
    let imports = manifest["imports"].as_array().unwrap();
    assert!(imports.contains(&"tether:tool/database@0.1.0".into()), "{imports:?}");
    tether(folder.path(), &["inspect", "none.wasm"]).check(2, &["none.wasm", "check the path"]);
}

#[test]
fn a_person_calls_looks_confirms_and_sees_it_done() {
    let server = Setup::of(&["tickets"]).start();
    let read = ask(&server, &["call", "get_ticket", "--args", r#"{"ticket_id":42}"#]);
    read.check(0, &[]);
    assert!(read.stdout.contains(r#""state":"open""#), "{read:?}");

    let proposed = ask(&server, &["call", "void_ticket", "--args", r#"{"ticket_id":42}"#]);
    proposed.check(0, &[]);
    for part in ["Pending", "Void ticket 42 (open, 45.00 EUR)", "tether actions confirm "] {
        assert!(proposed.stdout.contains(part), "{part:?} is missing: {proposed:?}");
    }
    let id = proposed.stdout.rsplit(' ').next().unwrap().trim().to_owned();
    let list = ask(&server, &["actions", "list", "--status", "pending"]);
    assert!(list.stdout.contains(&id) && list.stdout.contains("void_ticket"), "{list:?}");

    ask(&server, &["actions", "confirm", &id]).check(2, &["--yes"]);
    server.api.action(&id).check("200 Pending");
    let confirmed = ask(&server, &["actions", "confirm", &id, "--yes"]);
    confirmed.check(0, &["Void ticket 42"]);
    assert!(confirmed.stdout.contains("Succeeded") && confirmed.stdout.contains("Applied"), "{confirmed:?}");
    let again = ask(&server, &["actions", "confirm", &id, "--yes"]);
    again.check(0, &[]);
    assert!(again.stdout.contains("Replayed"), "{again:?}");

    let shown = ask(&server, &["actions", "show", &id]);
    assert!(shown.stdout.contains("UPDATE tickets"), "{shown:?}");
    let history = ask(&server, &["actions", "history", &id]);
    assert_eq!(history.stdout.lines().count(), 3, "{history:?}");
}

#[test]
fn a_person_declines_with_a_reason() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let declined = ask(&server, &["actions", "decline", &id, "--reason", "wrong ticket"]);
    declined.check(0, &[]);
    assert!(declined.stdout.contains("Declined") && declined.stdout.contains("wrong ticket"), "{declined:?}");
    ask(&server, &["actions", "decline", &id]).check(0, &[]);
    ask(&server, &["actions", "confirm", &id, "--yes"]).check(1, &["it is Declined"]);

    let done = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    server.api.confirm(&done, "{}").check("200 Succeeded");
    ask(&server, &["actions", "decline", &done]).check(1, &[]);
}

#[test]
fn programs_get_the_answers_of_the_api() {
    let server = Setup::of(&["tickets"]).start();
    let read = ask_json(&server, &["call", "get_ticket", "--args", r#"{"ticket_id":43}"#]);
    assert_eq!((&read["status"], &read["result"]["currency"]), (&"Succeeded".into(), &"CHF".into()));

    let arguments = ["call", "void_ticket", "--args", r#"{"ticket_id":43}"#, "--key", "k"];
    let action = ask_json(&server, &arguments);
    assert_eq!(ask_json(&server, &arguments), action, "the same key gives the same action");
    let id = action["actionId"].as_str().unwrap();
    assert_eq!(ask_json(&server, &["actions", "show", id]), action);
    assert_eq!(ask_json(&server, &["actions", "list"])["actions"], serde_json::json!([action]));
    let outcome = ask_json(&server, &["actions", "confirm", id, "--yes"]);
    assert_eq!((&outcome["status"], &outcome["effect"]), (&"Succeeded".into(), &"Applied".into()));
    assert_eq!(ask_json(&server, &["actions", "history", id])["events"][2]["to"], "Succeeded");
}

#[test]
fn work_that_fails_is_code_1_and_wrong_usage_code_2() {
    let server = Setup::of(&["tickets", "probe"]).start();
    ask(&server, &["call", "get_ticket", "--args", r#"{"ticket_id":1}"#])
        .check(1, &["REFUSED", "no ticket 1"]);
    ask(&server, &["call", "get_ticket", "--args", "{}"]).check(1, &["INVALID_ARGUMENTS", "ticket_id"]);
    ask(&server, &["call", "get_tickets"]).check(1, &["TOOL_NOT_FOUND"]);
    ask(&server, &["call", "get_ticket", "--args", "{"]).check(2, &["--args"]);
    ask(&server, &["actions", "show", "xyz"]).check(2, &["32 lower-case hex digits"]);
    ask(&server, &["actions", "show", &"0".repeat(32)]).check(1, &["ACTION_NOT_FOUND"]);
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":2}"#);
    ask(&server, &["actions", "confirm", &id, "--yes"]).check(1, &[]);
    ask(&server, &["actions", "confirm", &id, "--yes"]).check(0, &[]);
}

#[test]
fn a_gateway_that_is_not_there_or_not_ours_is_told_with_the_way_out() {
    let mut server = Setup::of(&["tickets"]).start();
    let folder = server.setup.folder().path().to_owned();
    let url = format!("http://{}", server.api.address);
    let call = |more: &[&str]| tether(&folder, &[&["call", "list_tickets"], more].concat());
    call(&["--url", &url]).check(2, &["there is no token", "--data-dir"]);
    call(&["--url", &url, "--token", "wrong"]).check(1, &["UNAUTHENTICATED", "--token"]);
    call(&["--url", "nowhere", "--token", "t"]).check(2, &["nowhere", "http://"]);
    server.kill();
    ask(&server, &["call", "list_tickets"]).check(1, &["no gateway answers", "tether serve"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = Folder::new();
    let commands: [&[&str]; 9] = [
        &["serve"],
        &["demo"],
        &["inspect"],
        &["call"],
        &["actions"],
        &["actions", "list"],
        &["actions", "show"],
        &["actions", "confirm"],
        &["actions", "decline"],
    ];
    for command in commands {
        let ran = tether(folder.path(), &[command, &["--help"]].concat());
        ran.check(0, &[]);
        assert!(ran.stdout.contains("Example"), "{command:?}");
    }
    tether(folder.path(), &["sevre"]).check(2, &["serve"]);
}

#[test]
fn the_demonstration_keeps_every_promise() {
    // Built before, so that two cargos do not wait for one another.
    component("mishaps");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ran = tether(&checkout, &["demo", "--once", "--json"]);
    ran.check(0, &[]);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(last["promises"], last["kept"], "{last}");
    assert!(last["kept"].as_u64() >= Some(10), "{last}");
}
