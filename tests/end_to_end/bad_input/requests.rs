//! Requests that cannot be taken.

use crate::support::{Request, Server, Setup};

/// A call with this body is told this, with these words in it.
#[track_caller]
fn check(server: &Server, tool: &str, body: &str, words: &str, part: &str) {
    let answer = server.api.post(&format!("/v1/tools/{tool}/calls"), body);
    let detail = answer.check(words).str("detail");
    assert!(detail.contains(part), "{body}: {detail}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
}

#[test]
fn a_call_that_cannot_be_understood_says_why() {
    let server = Setup::of(&["tickets"]).start();
    check(&server, "void_tickets", r#"{"args":{}}"#, "404 TOOL_NOT_FOUND", "GET /v1/tools");
    check(&server, "void%20ticket", "{}", "404 TOOL_NOT_FOUND", "no tool");
    check(&server, "void_ticket", r#"{"args":"#, "400 INVALID_ARGUMENTS", "line 1 column 8");
    check(&server, "void_ticket", r#"{"args":{'a':1}}"#, "400 INVALID_ARGUMENTS", "line 1");
    check(&server, "void_ticket", "[]", "400 INVALID_ARGUMENTS", "JSON object");
    check(&server, "void_ticket", r#"{"arguments":{}}"#, "400 INVALID_ARGUMENTS", "expected `args`");
    check(
        &server,
        "void_ticket",
        r#"{"args":{"ticket_id":1,"ticket_id":2}}"#,
        "400 INVALID_ARGUMENTS",
        "twice",
    );
    let deep = format!("{{\"args\":{}{}}}", "[".repeat(500), "]".repeat(500));
    check(&server, "void_ticket", &deep, "400 INVALID_ARGUMENTS", "");
    assert_eq!(server.api.get("/v1/actions").raw("actions"), "[]", "nothing of it was kept");
}

#[test]
fn arguments_against_the_schema_are_pointed_at() {
    let server = Setup::of(&["tickets"]).start();
    let wrong = r#"{"title":"","amount_cents":-1,"currency":"eur","colour":"red"}"#;
    let answer = server.api.call("open_ticket", wrong);
    answer.check("422 INVALID_ARGUMENTS");
    let errors = answer.body["errors"].as_array().expect("a list");
    let mut pointers: Vec<_> = errors.iter().filter_map(|error| error["pointer"].as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["", "/amount_cents", "/currency", "/title"]);
    assert!(errors.iter().all(|error| !error["message"].as_str().unwrap_or_default().is_empty()));

    let missing = server.api.call("void_ticket", "{}");
    let message = missing.check("422 INVALID_ARGUMENTS").body["errors"][0]["message"].to_string();
    assert!(message.contains("ticket_id"), "{message}");
}

#[test]
fn a_body_of_two_mebibytes_is_refused_with_a_whole_answer() {
    let server = Setup::of(&["probe"]).start();
    let body = format!(r#"{{"args":{{"text":"{}"}}}}"#, "x".repeat(2 << 20));
    let id = server.api.propose("probe_write", r#"{"note":"n"}"#);
    for path in
        ["/v1/tools/probe_echo/calls", "/v1/tools/probe_keep/calls", &format!("/v1/actions/{id}/confirm")]
    {
        let answer = server.api.post(path, &body);
        assert_eq!(
            answer.check("413 BODY_TOO_LARGE").header("content-type"),
            Some("application/problem+json")
        );
        assert!(answer.str("detail").contains("send less"), "{answer:?}");
    }
    server.api.action(&id).check("200 Pending");
    server.api.call("probe_echo", "{}").check("200 Succeeded");
}

#[test]
fn whoever_is_refused_early_gets_a_whole_answer_too() {
    let server = Setup::of(&["probe"]).start();
    let body = vec![b'x'; 1_000_000];
    // A connection that breaks while the body is written shows only at times.
    for _ in 0..20 {
        let nobody = Request { token: None, ..server.api.post_of("/v1/tools/probe_echo/calls", &[], &body) };
        server.api.ask(&nobody).expect("a whole answer").check("401 UNAUTHENTICATED");
        let nowhere = server.api.post_of("/v1/actions/0/confirm", &[], &body);
        server.api.ask(&nowhere).expect("a whole answer").check("404 ACTION_NOT_FOUND");
    }
}

#[test]
fn decisions_that_cannot_be_understood_change_nothing() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"n"}"#);
    for body in [
        "{",
        "[]",
        "1",
        r#"{"idempotencyKey":""}"#,
        r#"{"idempotencyKey":1}"#,
        r#"{"idempotencyKey":"a\nb"}"#,
        r#"{"attemptsUsed":-1}"#,
        r#"{"attemptsUsed":"0"}"#,
        r#"{"attemptsUsed":0.5}"#,
        r#"{"attemptUsed":0}"#,
        r#"{"idempotencyKey":"a","idempotencyKey":"b"}"#,
    ] {
        server.api.confirm(&id, body).check("400 INVALID_ARGUMENTS");
    }
    let long = format!(r#"{{"idempotencyKey":"{}"}}"#, "k".repeat(256));
    server.api.confirm(&id, &long).check("400 INVALID_ARGUMENTS");
    for body in ["{", r#"{"reason":1}"#, r#"{"why":"x"}"#] {
        server.api.decline(&id, body).check("400 INVALID_ARGUMENTS");
    }
    server.api.action(&id).check("200 Pending");
    for id in ["0", "00000000000000000000000000000000", &id.to_uppercase(), "..%2f..", &format!("{id}0")] {
        server.api.confirm(id, "{}").check("404 ACTION_NOT_FOUND");
        server.api.decline(id, "{}").check("404 ACTION_NOT_FOUND");
        server.api.action(id).check("404 ACTION_NOT_FOUND");
    }
    assert_eq!(server.effects(), []);
}
