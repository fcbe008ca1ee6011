//! Confirming and declining: keys, preconditions, and coming too late.

use crate::support::{Setup, eventually};

#[test]
fn a_key_may_come_in_the_header_or_the_body_but_not_two() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"n"}"#);
    let path = format!("/v1/actions/{id}/confirm");
    let confirm = |header: &str, body: &str| {
        server.api.post_with(&path, &[("Idempotency-Key", header)], body.as_bytes()).words()
    };
    assert_eq!(confirm("a", r#"{"idempotencyKey":"b"}"#), "400 INVALID_ARGUMENTS");
    server.api.action(&id).check("200 Pending");
    assert_eq!(confirm("a", r#"{"idempotencyKey":"a"}"#), "200 Succeeded");
    assert_eq!(confirm("a", ""), "200 Replayed");
    assert_eq!(server.api.confirm(&id, r#"{"idempotencyKey":"a"}"#).words(), "200 Replayed");
    assert_eq!(confirm("b", ""), "409 Conflict ACTION_DECIDED");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_person_who_saw_fewer_attempts_runs_nothing() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":2}"#);
    let seen = r#"{"attemptsUsed":0,"idempotencyKey":"k"}"#;
    server.api.confirm(&id, seen).check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    let resent = server.api.confirm(&id, seen);
    assert_eq!(resent.check("409 Conflict ACTION_CHANGED").body["attemptsUsed"], 1);
    server.api.confirm(&id, r#"{"attemptsUsed":2}"#).check("409 Conflict ACTION_CHANGED");
    server.api.confirm(&id, r#"{"attemptsUsed":1,"idempotencyKey":"k"}"#).check("200 Succeeded");
}

#[test]
fn a_declined_action_never_runs() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"n"}"#);
    let declined = server.api.decline(&id, r#"{"reason":"not this one"}"#);
    assert_eq!(declined.check("200 Declined").str("declineReason"), "not this one");
    let again = server.api.decline(&id, r#"{"reason":"another"}"#);
    assert_eq!(again.check("200 Declined").str("declineReason"), "not this one");
    server.api.confirm(&id, "{}").check("409 Conflict ACTION_DECLINED");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_decline_that_comes_too_late_changes_nothing() {
    let server = Setup::of(&["probe"]).start();
    let done = server.api.propose("probe_write", r#"{"note":"n"}"#);
    server.api.confirm(&done, "{}").check("200 Succeeded");
    server.api.decline(&done, "{}").check("409 Conflict ACTION_DECIDED");
    server.api.action(&done).check("200 Succeeded");

    let slow = server.api.propose("probe_write", r#"{"note":"slow","then":"sleep:10000"}"#);
    let _slow = server.api.begin_confirm(&slow, "{}");
    eventually("it runs", || (server.effects_of(&slow) == 1).then_some(()));
    server.api.decline(&slow, "{}").check("409 Conflict ACTION_EXECUTING");
}

#[test]
fn an_action_that_failed_can_be_declined_and_keeps_its_evidence() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_steps", r#"{"steps":1,"stop_after":1}"#);
    server.api.confirm(&id, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    let declined = server.api.decline(&id, "{}");
    assert_eq!(declined.check("200 Declined").str("effect"), "Applied");
    assert_eq!(declined.body["ledger"][0]["step"], "step-1");
}

#[test]
fn nobody_can_confirm_what_has_expired() {
    let server = Setup::of(&["probe"]).env("TETHER_ACTIONS__EXPIRES_AFTER", "1s").start();
    let id = server.api.propose("probe_write", r#"{"note":"late"}"#);
    eventually("it expires", || (server.api.action(&id).str("status") == "Expired").then_some(()));
    server.api.confirm(&id, "{}").check("409 Conflict ACTION_EXPIRED");
    server.api.decline(&id, "{}").check("409 Conflict ACTION_EXPIRED");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_confirmation_runs_to_its_end_without_its_person() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"alone","then":"sleep:300","when":"before"}"#);
    let gone = server.api.begin_confirm(&id, "{}");
    eventually("it runs", || (server.api.action(&id).str("status") == "Executing").then_some(()));
    drop(gone);
    server.api.confirm(&id, "{}").check("200 Replayed");
    assert_eq!(server.effects_of(&id), 1);
}
