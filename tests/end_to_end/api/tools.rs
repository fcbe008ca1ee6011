//! `GET /v1/tools`, and calls of reads.

use serde_json::json;

use crate::support::{Server, Setup};

#[test]
fn tools_are_listed_with_everything_a_model_needs() {
    let server = Setup::of(&["tickets"]).start();
    let list = server.api.get("/v1/tools");
    let tools = list.body["tools"].as_array().expect("a list");
    let kinds: Vec<_> = tools.iter().map(|tool| (tool["name"].as_str(), tool["effect"].as_str())).collect();
    assert_eq!(
        kinds,
        [
            (Some("get_ticket"), Some("read")),
            (Some("list_tickets"), Some("read")),
            (Some("open_ticket"), Some("write")),
            (Some("void_ticket"), Some("write")),
        ]
    );
    let void = &tools[3];
    assert_eq!((&void["title"], &void["component"]["name"]), (&json!("Void ticket"), &json!("tickets")));
    assert!(void["description"].as_str().is_some_and(|text| text.contains("Void an open ticket")), "{void}");
    assert_eq!(void["inputSchema"]["required"], json!(["ticket_id"]));
    assert_eq!(void["outputSchema"]["type"], "object");
    assert!(
        void["component"]["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:")),
        "{void}"
    );
}

#[test]
fn a_read_answers_at_once_and_makes_no_action() {
    let server = Setup::of(&["tickets"]).start();
    let answer = server.api.call("get_ticket", r#"{"ticket_id":42}"#);
    answer.check("200 Succeeded");
    assert_eq!((answer.str("tool"), &answer.body["attempts"]), ("get_ticket", &json!(1)));
    assert_eq!(answer.body["result"]["title"], "Concert, row 7");
    let mut members: Vec<_> = answer.body.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["attempts", "requestId", "result", "status", "tool"]);
    assert_eq!(server.api.get("/v1/actions").raw("actions"), "[]");
}

#[test]
fn a_read_that_is_refused_says_so_in_the_handlers_words() {
    let server = Setup::of(&["tickets"]).start();
    let refused = server.api.call("get_ticket", r#"{"ticket_id":1}"#);
    refused.check("422 REFUSED");
    assert_eq!(
        (refused.str("handlerCode"), refused.str("detail")),
        ("TICKET_NOT_FOUND", "there is no ticket 1")
    );
    assert_eq!(refused.str("requestId").len(), 32);
}

/// A read that fails so, after so many attempts, and harms no other call.
#[track_caller]
fn check_failure(server: &Server, tool: &str, words: &str, attempts: u32) {
    let answer = server.api.call(tool, if tool == "probe_sleep" { r#"{"ms":60000}"# } else { "{}" });
    assert_eq!(answer.check(words).body["attempts"], attempts, "{tool}");
    server.api.call("probe_echo", "{}").check("200 Succeeded");
}

#[test]
fn a_read_that_breaks_is_not_repeated() {
    let server = Setup::of(&["probe"]).start();
    check_failure(&server, "probe_trap", "502 HANDLER_TRAPPED", 1);
    check_failure(&server, "probe_hoard", "502 LIMIT_EXCEEDED", 1);
    check_failure(&server, "probe_lie", "502 RESULT_INVALID", 1);
}

#[test]
fn a_read_that_runs_out_of_time_is_repeated() {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "0.5").start();
    check_failure(&server, "probe_spin", "504 TIMED_OUT", 3);
    check_failure(&server, "probe_sleep", "504 TIMED_OUT", 3);
}

#[test]
fn a_read_that_tries_to_write_is_told_that_it_is_misclassified() {
    let server = Setup::of(&["probe"]).start();
    let answer = server.api.call("probe_sneak", "{}");
    answer.check("502 HANDLER_FAILED");
    assert_eq!(answer.body["attempts"], 1);
    assert_eq!(server.effects(), []);
}
