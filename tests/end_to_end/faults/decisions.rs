//! F29: nobody decides alone who must not, whatever a body says; and what was decided can
//! be checked later.

use serde_json::json;

use crate::support::{Api, Server, Setup, component, tether};

/// `probe`, with a rule for `probe_write`.
fn server(rule: &str) -> Server {
    let path = component("probe");
    let text = format!(
        "[[components]]\nname = \"probe\"\npath = {path:?}\n[[rules]]\ntool = \"probe_write\"\n{rule}\n"
    );
    Setup::of(&[]).config("tether.toml", &text).start()
}

/// The API with a token of its own for this user.
fn person(server: &Server, user: &str, roles: &[&str]) -> Api {
    let body = json!({ "user": user, "roles": roles }).to_string();
    let made = server.api.post("/v1/tokens", &body);
    Api { token: made.check("201").str("token").to_owned(), ..server.api.clone() }
}

#[test]
fn f29_with_four_eyes_nobody_confirms_alone_and_a_name_in_the_body_is_ignored() {
    let server = server("people = 2");
    let [ann, bob] = ["ann", "bob"].map(|user| person(&server, user, &["approver"]));
    let both = person(&server, "bot", &["agent", "approver"]);
    let id = both.propose("probe_write", r#"{"note":"four eyes"}"#);
    let as_ann = r#"{"user":"ann","approver":"ann","confirmedBy":"ann","roles":["approver"]}"#;
    both.confirm(&id, as_ann).check("403 FORBIDDEN");
    both.decline(&id, r#"{"declinedBy":"ann"}"#).check("403 FORBIDDEN");

    let first = ann.confirm(&id, r#"{"approvedBy":"bob","attemptsUsed":0,"idempotencyKey":"a"}"#);
    first.check("200 Pending");
    assert_eq!((&first.body["approvals"][0]["by"], &first.body["errorCode"]), (&json!("ann"), &json!(null)));
    assert_eq!(
        (first.body["approvals"].as_array().unwrap().len(), &first.body["approvalsNeeded"]),
        (1, &json!(2))
    );
    ann.confirm(&id, r#"{"by":"bob","idempotencyKey":"b"}"#).check("200 Pending");
    ann.confirm(&id, r#"{"attemptUsed":0}"#).check("400 INVALID_ARGUMENTS");
    assert_eq!(server.effects_of(&id), 0);

    bob.confirm(&id, r#"{"idempotencyKey":"b"}"#).check("200 Succeeded");
    ann.confirm(&id, r#"{"idempotencyKey":"a"}"#).check("200 Replayed");
    assert_eq!(server.effects_of(&id), 1);
    let events = ann.get(&format!("/v1/actions/{id}/history"));
    let told: Vec<_> = events.body["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (&event["actor"], &event["channel"]))
        .collect();
    let [api, none] = [json!("api"), json!(null)];
    assert_eq!(told, [(&json!("bot"), &api), (&json!("ann"), &api), (&json!("bob"), &api), (&none, &none)]);
}

#[test]
fn f29_who_is_alone_decides_and_is_not_once_there_is_anybody_else() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"alone"}"#);
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let ann = person(&server, "ann", &["approver"]);
    let id = server.api.propose("probe_write", r#"{"note":"not alone"}"#);
    server.api.confirm(&id, "{}").check("403 FORBIDDEN");
    ann.confirm(&id, "{}").check("200 Succeeded");
}

#[test]
fn who_is_not_named_does_not_decide_and_so_many_proposals_wait() {
    let server = server("confirmers = [\"ann\"]\nmax_open = 1");
    let [ann, bob] = ["ann", "bob"].map(|user| person(&server, user, &["approver"]));
    let id = server.api.propose("probe_write", r#"{"note":"one"}"#);
    let second = server.api.call("probe_write", r#"{"note":"two"}"#);
    second.check("503 OVERLOADED");
    assert_eq!(second.header("retry-after"), Some("60"));
    bob.confirm(&id, "{}").check("403 FORBIDDEN");
    ann.confirm(&id, "{}").check("200 Succeeded");
    server.api.propose("probe_write", r#"{"note":"two"}"#);
}

#[test]
fn a_rule_for_a_tool_that_nobody_offers_stops_the_start() {
    let path = component("probe");
    let text = format!("[[components]]\npath = {path:?}\n[[rules]]\ntool = \"probe_wriet\"\npeople = 2");
    let setup = Setup::of(&[]).config("tether.toml", &text);
    setup.refused().check(2, &["nobody offers a tool named `probe_wriet`", "did you mean `probe_write`?"]);
}

#[test]
fn what_was_exported_is_what_the_history_must_go_on_from() {
    let mut server = Setup::of(&["probe"]).start();
    let done = server.api.propose("probe_write", r#"{"note":"kept"}"#);
    server.api.confirm(&done, "{}").check("200 Succeeded");
    server.api.action(&done).check("200 Succeeded"); // who looks waits until it is written
    server.kill();
    let folder = server.setup.folder().path().to_owned();
    let data = server.setup.data().to_string_lossy().into_owned();
    let verify = |more: &[&str]| tether(&folder, &[&["audit", "verify", "--data-dir", &data], more].concat());
    let exported = verify(&["--export", "kept.jsonl"]);
    exported.check(0, &[]);
    assert!(exported.stdout.contains("ends at place 3 with sha256:"), "{exported:?}");
    let lines = std::fs::read_to_string(folder.join("kept.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert_eq!(verify(&["--export", "-"]).stdout, lines, "nothing else is written there");

    server.restart();
    server.api.propose("probe_write", r#"{"note":"later"}"#);
    server.kill();
    verify(&["--heads", "kept.jsonl"]).check(0, &[]);
    let file = rusqlite::Connection::open(server.file("actions.db")).unwrap();
    file.execute("UPDATE history SET actor = 'eve' WHERE place = 2", []).unwrap();
    drop(file);
    let found = verify(&["--heads", "kept.jsonl", "--json"]);
    assert_eq!(found.code, 1, "{found:?}");
    let report: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["place"], &finding["rule"], &finding["actionId"]),
        (&json!(2), &json!("chain"), &json!(done))
    );
    assert_eq!(report["heads"][0]["place"], 4);
}
