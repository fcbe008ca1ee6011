//! F9, F13, F14, F21: what a handler does to its database, and how it ends.

use std::collections::BTreeSet;

use crate::support::{Setup, crowd};

/// A write that ends so before its commit did nothing.
#[track_caller]
fn check_undone(timeout_seconds: &str, then: &str, cause: &str) {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", timeout_seconds).start();
    let arguments = format!(r#"{{"note":"undone","when":"before","then":"{then}"}}"#);
    let id = server.api.propose("probe_write", &arguments);
    let outcome = server.api.confirm(&id, "{}");
    outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(outcome.body["cause"]["code"], cause, "{then}");
    assert_eq!((outcome.str("effect"), outcome.raw("ledger")), ("None", "[]"), "{then}");
    assert_eq!(server.effects(), [], "{then}");
}

#[test]
fn f9_what_was_written_before_a_trap_is_undone() {
    check_undone("20", "trap", "HANDLER_TRAPPED");
    check_undone("20", "transient", "UPSTREAM_UNAVAILABLE");
    check_undone("1", "spin", "TIMED_OUT");
    check_undone("1", "sleep:60000", "TIMED_OUT");
}

#[test]
fn f9_a_step_that_committed_before_a_trap_is_not_done_again() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_steps", r#"{"steps":2,"stop_after":1,"by":"trap"}"#);
    let outcome = server.api.confirm(&id, "{}");
    outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(
        (outcome.str("effect"), outcome.body["ledger"][0]["step"].as_str()),
        ("Applied", Some("step-1"))
    );
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let notes: Vec<_> = server.effects().into_iter().map(|effect| effect.note).collect();
    assert_eq!(notes, ["step-1", "step-2", "main"]);
}

#[test]
fn a_success_without_a_record_is_none() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_no_record", "{}");
    let outcome = server.api.confirm(&id, "{}");
    assert_eq!(outcome.check("200 Failed EXECUTION_FAILED").body["cause"]["code"], "HANDLER_FAILED");
    assert_eq!(server.effects(), []);
}

#[test]
fn f13_a_broken_rule_that_was_caught_leaves_the_transaction_usable() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_constraint", "{}");
    server.api.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn f14_fifty_that_read_and_then_write_at_once_all_succeed() {
    let server = Setup::of(&["probe"]).start();
    let ids: Vec<_> = (0..50).map(|_| server.api.propose("probe_read_then_write", "{}")).collect();
    let answers = crowd(ids.len(), |number| server.api.confirm(&ids[number], "{}"));
    let values: BTreeSet<_> = answers
        .iter()
        .map(|answer| answer.check("200 Succeeded").body["result"].as_i64().expect("a whole number"))
        .collect();
    assert_eq!(values, (1..=50).collect(), "nobody read what another was about to replace");
}

#[test]
fn f21_after_a_trap_the_next_call_has_a_fresh_instance() {
    let server = Setup::of(&["probe"]).start();
    for _ in 0..3 {
        assert_eq!(server.api.call("probe_count", "{}").check("200 Succeeded").body["result"], 1);
        let trapped = server.api.call("probe_trap", "{}");
        assert_eq!(trapped.check("502 HANDLER_TRAPPED").body["attempts"], 1);
    }
    let id = server.api.propose("probe_write", r#"{"note":"t","when":"before","then":"trap"}"#);
    server.api.confirm(&id, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    let next = server.api.propose("probe_write", r#"{"note":"next"}"#);
    server.api.confirm(&next, "{}").check("200 Succeeded");
    assert_eq!(server.effects().len(), 1, "the trap left no open transaction");
}
