//! Confirmed again: F1, F2, F6, F7, F10, F11.

use crate::support::{Setup, eventually};

#[test]
fn f1_a_client_that_gave_up_on_a_slow_success_gets_its_result_later() {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "3").start();
    let id = server.api.propose("probe_write", r#"{"note":"slow","then":"sleep:30000"}"#);
    let gone = server.api.begin_confirm(&id, "{}");
    eventually("the handler has committed", || (server.effects_of(&id) == 1).then_some(()));
    drop(gone);
    let answers = [(); 3].map(|()| server.api.confirm(&id, "{}"));
    for answer in &answers {
        assert_eq!(answer.check("200 Replayed").raw("result"), answers[0].raw("result"));
    }
    assert_eq!(server.effects_of(&id), 1);
}

/// A write that ends so after its commit succeeded all the same.
#[track_caller]
fn check_done(then: &str) {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "3").start();
    let id = server.api.propose("probe_write", &format!(r#"{{"note":"done","then":"{then}"}}"#));
    let first = server.api.confirm(&id, "{}");
    assert_eq!(first.check("200 Succeeded").str("effect"), "Applied", "{then}");
    let again = server.api.confirm(&id, "{}");
    assert_eq!(again.check("200 Replayed").raw("result"), first.raw("result"), "{then}");
    assert_eq!(server.effects_of(&id), 1, "{then}");
}

#[test]
fn f2_a_failure_after_the_commit_is_none() {
    check_done("trap");
    check_done("fail");
    check_done("transient");
    check_done("spin");
}

#[test]
fn f6_a_key_that_is_busy_with_one_action_confirms_no_other() {
    let server = Setup::of(&["probe"]).start();
    let slow = server.api.propose("probe_write", r#"{"note":"slow","then":"sleep:15000"}"#);
    let other = server.api.propose("probe_write", r#"{"note":"other"}"#);
    let key = r#"{"idempotencyKey":"k"}"#;
    let _slow = server.api.begin_confirm(&slow, key);
    eventually("the first runs", || (server.effects_of(&slow) == 1).then_some(()));
    server.api.confirm(&other, key).check("422 IDEMPOTENCY_KEY_REUSED");
    server.api.action(&slow).check("200 Executing");
    assert_eq!(server.api.action(&other).check("200 Pending").body["attemptsUsed"], 0);
    assert_eq!(server.effects_of(&other), 0);
}

#[test]
fn f7_a_key_that_confirmed_one_tool_confirms_no_other() {
    let server = Setup::of(&["probe", "tickets"]).start();
    let first = server.api.propose("probe_write", r#"{"note":"first"}"#);
    let other = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let key = r#"{"idempotencyKey":"k"}"#;
    let done = server.api.confirm(&first, key);
    server.api.confirm(&other, key).check("422 IDEMPOTENCY_KEY_REUSED");
    assert_eq!(server.api.call("get_ticket", r#"{"ticket_id":42}"#).body["result"]["state"], "open");
    assert_eq!(server.api.confirm(&first, key).check("200 Replayed").raw("result"), done.raw("result"));
    server.api.confirm(&other, r#"{"idempotencyKey":"l"}"#).check("200 Succeeded");
}

/// A write that ends so is over: nothing runs again.
#[track_caller]
fn check_final(arguments: &str, cause: &str, handler_code: Option<&str>) {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_steps", arguments);
    let first = server.api.confirm(&id, r#"{"idempotencyKey":"k"}"#);
    first.check("200 Failed EXECUTION_FAILED");
    assert_eq!(
        (first.body["cause"]["code"].as_str(), first.body["handlerCode"].as_str()),
        (Some(cause), handler_code)
    );
    for body in [r#"{"idempotencyKey":"k"}"#, "{}", r#"{"idempotencyKey":"l"}"#] {
        let again = server.api.confirm(&id, body);
        again.check("200 Failed EXECUTION_FAILED");
        for name in ["errorMessage", "attemptsUsed", "cause", "effect"] {
            assert_eq!(again.body[name], first.body[name], "{name}");
        }
    }
    assert_eq!(server.effects_of(&id), 1, "the first step, and nothing after it");
    assert_eq!(first.str("effect"), "Applied", "the step is told");
}

#[test]
fn f10_a_final_error_stays_final() {
    check_final(r#"{"steps":2,"stop_after":1,"by":"refuse"}"#, "REFUSED", Some("PROBE_REFUSED"));
    check_final(r#"{"steps":2,"stop_after":1,"by":"fail"}"#, "HANDLER_FAILED", Some("PROBE_FAILED"));
}

#[test]
fn f11_a_replay_says_that_it_is_one() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_nothing", "{}");
    let first = server.api.confirm(&id, "{}");
    let again = server.api.confirm(&id, "{}");
    assert_eq!((first.str("status"), again.str("status")), ("Succeeded", "Replayed"));
    server.api.action(&id).check("200 Succeeded");
}
