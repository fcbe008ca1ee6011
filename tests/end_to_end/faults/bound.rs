//! F28: what was shown is what runs, or nothing does.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::support::{Server, Setup, component, tether};

/// A configuration of `probe`, kept in this file, with these databases.
fn toml(path: &Path, databases: &str) -> String {
    format!("[[components]]\nname = \"probe\"\npath = {path:?}\n[components.databases]\n{databases}\n")
}

/// The same component with other bytes: a custom section was added.
fn other_version() -> Vec<u8> {
    let mut bytes = fs::read(component("probe")).unwrap();
    bytes.extend_from_slice(b"\x00\x06\x05other");
    bytes
}

/// A server of a copy of `probe`, and the copy's path within its folder.
fn server() -> Server {
    let setup = Setup::of(&[]);
    let copy = setup.folder().file("copy.wasm", fs::read(component("probe")).unwrap());
    setup.config("tether.toml", &toml(&copy, "main = \"sqlite\"")).start()
}

/// Confirming is refused, uses no attempt and does nothing.
#[track_caller]
fn check_outdated(server: &Server, id: &str) {
    let outcome = server.api.confirm(id, "{}");
    outcome.check("409 Conflict ACTION_OUTDATED");
    assert!(outcome.str("errorMessage").contains("propose it again"), "{outcome:?}");
    assert_eq!(server.api.action(id).check("200 Pending").body["attemptsUsed"], 0);
    assert_eq!(server.effects_of(id), 0);
}

fn propose(server: &Server) -> String {
    server.api.propose("probe_write", r#"{"note":"bound"}"#)
}

/// Somebody changes what is stored of an action.
fn change(server: &Server, id: &str, changed: &str) {
    let actions = Connection::open(server.file("actions.db")).unwrap();
    actions.execute(&format!("UPDATE actions SET {changed} WHERE id = ?"), [id]).unwrap();
}

/// Whatever is asked of the action is answered with where to look, and with nothing else.
#[track_caller]
fn check_untold(server: &Server, id: &str) {
    let (api, history) = (&server.api, format!("/v1/actions/{id}/history"));
    let same_key = r#"{"idempotencyKey":"k"}"#;
    for answer in [api.confirm(id, same_key), api.action(id), api.get(&history), api.decline(id, "{}")] {
        let detail = answer.check("500 INTERNAL").str("detail");
        assert!(detail.contains("`tether audit verify`") && !answer.text.contains("note"), "{answer:?}");
    }
    assert!(!api.get("/v1/actions").check("200").text.contains(id), "nor is it in a list");
    server.log().wait_for("the stored history of this action does not match");
}

#[test]
fn f28_what_else_was_shown_and_changed_behind_our_back_never_runs() {
    let server = server();
    for changed in ["preview_kind = 'text', preview = 'Nothing'", "people = 0", "max_attempts = 9"] {
        let id = propose(&server);
        change(&server, &id, changed);
        check_untold(&server, &id);
        assert_eq!(server.effects_of(&id), 0, "{changed}");
    }
}

#[test]
fn a_result_that_was_changed_behind_our_back_is_told_to_nobody() {
    let mut server = server();
    let [forged, other] = [(); 2].map(|()| propose(&server));
    for (id, key) in [(&forged, r#"{"idempotencyKey":"k"}"#), (&other, r#"{"idempotencyKey":"l"}"#)] {
        server.api.confirm(id, key).check("200 Succeeded");
        server.api.confirm(id, key).check("200 Replayed");
    }
    change(&server, &forged, "output = '{\"note\":\"forged\"}'");
    check_untold(&server, &forged);
    server.api.confirm(&other, r#"{"idempotencyKey":"l"}"#).check("200 Replayed");
    server.kill();
    let data = server.setup.data().to_string_lossy().into_owned();
    let audit = tether(server.setup.folder().path(), &["audit", "verify", "--data-dir", &data]);
    assert_eq!(audit.code, 1, "{audit:?}");
    let found = format!("action {forged}: it is stored as another than its history says");
    assert!(audit.stdout.contains(&found) && !audit.stdout.contains(&other), "{audit:?}");
}

#[test]
fn f28_arguments_that_were_changed_behind_our_back_never_run() {
    let mut server = server();
    for restarted in [false, true] {
        let id = propose(&server);
        let actions = Connection::open(server.file("actions.db")).unwrap();
        let changed =
            actions.execute("UPDATE actions SET arguments = '{\"note\":\"forged\"}' WHERE id = ?", [&id]);
        assert_eq!(changed, Ok(1));
        drop(actions);
        if restarted {
            server.restart();
        }
        let answer = server.api.confirm(&id, "{}");
        assert!(answer.status >= 400, "{answer:?}");
        assert_eq!(server.effects(), []);
    }
}

#[test]
fn f28_an_action_that_was_changed_harms_no_other() {
    let mut server = server();
    let [forged, other] = [(); 2].map(|()| propose(&server));
    let actions = Connection::open(server.file("actions.db")).unwrap();
    actions.execute("UPDATE actions SET tool = 'probe_nothing' WHERE id = ?", [&forged]).unwrap();
    server.restart();
    assert!(server.api.confirm(&forged, "{}").status >= 400);
    server.api.confirm(&other, "{}").check("200 Succeeded");
    let list = server.api.get("/v1/actions");
    assert!(list.text.contains(&other), "{list:?}");
    assert_eq!(server.effects().len(), 1);
}

#[test]
fn f28_an_action_outlives_an_update_of_its_component() {
    let mut server = server();
    let id = propose(&server);
    let shown = server.api.action(&id).raw("component").to_owned();
    server.kill();
    server.setup.folder().file("copy.wasm", other_version());
    server.restart();
    let now = server.api.get("/v1/tools").body["tools"][0]["component"]["digest"].clone();
    assert!(!shown.contains(now.as_str().unwrap()), "another version is served");
    assert_eq!(server.api.confirm(&id, "{}").check("200 Succeeded").raw("component"), shown);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn f28_without_the_bytes_that_were_shown_nothing_runs() {
    let mut server = server();
    for change in ["gone", "cut", "replaced"] {
        server.setup.folder().file("copy.wasm", fs::read(component("probe")).unwrap());
        server.restart();
        let id = propose(&server);
        let digest = server.api.action(&id).body["component"]["digest"].as_str().unwrap().to_owned();
        server.kill();
        let kept = server.file(&format!("components/{}.wasm", digest.trim_start_matches("sha256:")));
        let bytes = fs::read(&kept).unwrap();
        match change {
            "gone" => fs::remove_file(&kept).unwrap(),
            "cut" => fs::write(&kept, &bytes[..bytes.len() / 2]).unwrap(),
            _ => fs::write(&kept, other_version()).unwrap(),
        }
        server.setup.folder().file("copy.wasm", other_version());
        server.restart();
        check_outdated(&server, &id);
    }
}

#[test]
fn f28_a_component_that_is_no_longer_configured_runs_no_more() {
    let mut server = server();
    let id = propose(&server);
    server.setup.folder().file("tether.toml", "");
    server.restart();
    check_outdated(&server, &id);
    server.api.decline(&id, "{}").check("200 Declined");
}

#[test]
fn f28_other_grants_are_another_action() {
    let mut server = server();
    let id = propose(&server);
    let copy = server.setup.folder().path().join("copy.wasm");
    server.setup.folder().file("tether.toml", toml(&copy, "main = \"sqlite\"\ncrm = \"sqlite\""));
    server.restart();
    check_outdated(&server, &id);
    let fresh = propose(&server);
    server.api.confirm(&fresh, "{}").check("200 Succeeded");
}
