//! The log: what a guest says is in it, what it is given is not.

use serde_json::json;

use crate::support::Setup;

/// In no other text of these tests.
const CANARY: &str = "canary-7d1f2c";

#[test]
fn what_a_guest_prints_is_logged_with_its_request() {
    let server = Setup::of(&["probe"]).start();
    // Standard error quotes what a handler was at work with, so values of arguments are masked.
    for (tool, arguments, line) in [
        ("probe_log", json!({ "line": "a guest's line" }), "a guest's line"),
        ("probe_log", json!({ "line": "a guest's trouble", "error": true }), "tether::guest: ***"),
        ("probe_panic", json!({ "words": ["canary"] }), r#"told to quote *** and Quoted { words: ["***"] }"#),
    ] {
        let answer = server.api.call(tool, &arguments.to_string());
        let id = answer.str("requestId").to_owned();
        server.log().wait_for(line);
        let log = server.log().text();
        let logged = log.lines().find(|logged| logged.contains(line)).unwrap();
        assert!(logged.contains(&id) && logged.contains(tool), "{logged}");
    }
}

#[test]
fn no_log_holds_arguments_results_or_tokens() {
    let mut server = Setup::of(&["probe"]).env("TETHER_LOG", "trace").start();
    let api = server.api.clone();
    let note = json!({ "note": CANARY }).to_string();
    assert!(api.call("probe_echo", &note).text.contains(CANARY));
    api.call("probe_panic", &json!({ "words": [CANARY, format!("1 {CANARY}")] }).to_string())
        .check("502 HANDLER_TRAPPED");
    api.call("probe_echo", &json!([CANARY]).to_string()).check("422 INVALID_ARGUMENTS");
    api.call("probe_write", &json!({ "note": [CANARY] }).to_string()).check("422 INVALID_ARGUMENTS");
    api.call(CANARY, "{}").check("404 TOOL_NOT_FOUND");
    api.get(&format!("/v1/actions/{CANARY}")).check("404 ACTION_NOT_FOUND");
    api.get(&format!("/{CANARY}?{CANARY}"));
    for then in ["ok", "trap", "transient"] {
        let arguments = json!({ "note": CANARY, "then": then, "when": "before" }).to_string();
        let id = api.propose_with(CANARY, "probe_write", &arguments).str("actionId").to_owned();
        api.confirm(&id, &json!({ "idempotencyKey": CANARY }).to_string());
        api.decline(&id, &json!({ "reason": CANARY }).to_string());
    }
    let first = server.log().clone();
    server.restart();
    server.api.get("/v1/actions");
    server.kill();

    let log = first.whole() + &server.log().whole();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "it is a log of everything:\n{log}");
    assert!(!log.contains(CANARY), "{log}");
    assert!(!log.contains(&api.token), "the token");
}
