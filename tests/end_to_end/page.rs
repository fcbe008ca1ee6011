//! The examples and promises of the tool endpoint's page, word for word.

use serde_json::{Value, json};

use crate::support::{Server, Setup, crowd};

#[test]
fn a_transient_failure_is_told_as_the_page_tells_it() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":2}"#);
    let outcome = server.api.confirm(&id, "{}");
    outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    let page = json!({
        "status": "FailedRetryable",
        "actionId": id,
        "commandType": "probe_write_until",
        "errorCode": "EXECUTION_FAILED_RETRYABLE",
        "errorMessage": "Execution failed transiently; the action remains confirmable (1/3 attempts used)."
    });
    for (name, value) in page.as_object().unwrap() {
        assert_eq!(outcome.body[name], *value, "{name}");
    }
    assert_eq!(server.effects(), [], "nothing was done");
    server.api.action(&id).check("200 Pending EXECUTION_FAILED_RETRYABLE");
}

#[test]
fn a_person_can_confirm_again_after_a_transient_failure() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":2}"#);
    server.api.confirm(&id, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    server.api.confirm(&id, r#"{"attemptsUsed":1}"#).check("200 Succeeded");
    let effects = server.effects();
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].key.as_str(), effects[0].attempt), (id.as_str(), 2));
}

#[test]
fn after_three_attempts_the_action_is_consumed_as_failed() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":4}"#);
    for used in 1..=2 {
        let outcome = server.api.confirm(&id, "{}");
        outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
        assert!(outcome.str("errorMessage").contains(&format!("({used}/3 attempts used)")), "{outcome:?}");
    }
    server.api.confirm(&id, "{}").check("200 Failed EXECUTION_ATTEMPTS_EXHAUSTED");
    let again = server.api.confirm(&id, "{}");
    again.check("200 Failed EXECUTION_ATTEMPTS_EXHAUSTED");
    assert_eq!(again.body["attemptsUsed"], 3, "the fourth confirmation ran nothing");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_repeated_key_gets_the_result_of_the_first_execution() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"once"}"#);
    let key = r#"{"idempotencyKey":"k-1"}"#;
    let first = server.api.confirm(&id, key);
    first.check("200 Succeeded");
    for _ in 0..3 {
        let again = server.api.confirm(&id, key);
        again.check("200 Replayed");
        assert_eq!(again.raw("result"), first.raw("result"));
    }
    assert_eq!(server.effects_of(&id), 1);
}

/// Two confirmations at once, with these bodies; what they were told, sorted.
#[track_caller]
fn check_race(bodies: [&str; 2], told: [&str; 2]) {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"race","then":"sleep:300","when":"before"}"#);
    let answers = crowd(2, |number| server.api.confirm(&id, bodies[number]));
    let mut words: Vec<_> = answers.iter().map(|answer| answer.words()).collect();
    words.sort();
    assert_eq!(words, told);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn the_loser_of_a_race_gets_the_winners_result() {
    check_race(["{}", "{}"], ["200 Replayed", "200 Succeeded"]);
    let key = r#"{"idempotencyKey":"same"}"#;
    check_race([key, key], ["200 Replayed", "200 Succeeded"]);
}

#[test]
fn the_loser_of_a_race_with_another_key_gets_a_conflict() {
    let bodies = [r#"{"idempotencyKey":"one"}"#, r#"{"idempotencyKey":"two"}"#];
    check_race(bodies, ["200 Succeeded", "409 Conflict ACTION_EXECUTING"]);
}

#[test]
fn the_key_of_a_write_is_its_action_in_every_attempt() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_steps", r#"{"steps":2,"stop_after":1}"#);
    assert!(id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte)), "{id}");
    server.api.confirm(&id, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let seen: Vec<_> = server.effects().into_iter().map(|effect| (effect.key, effect.attempt)).collect();
    assert_eq!(seen, [1, 2, 2].map(|attempt| (id.clone(), attempt)), "step 1, step 2 and the whole");
}

#[test]
fn the_key_of_a_read_is_fresh_for_each_call() {
    let server = Setup::of(&["probe"]).start();
    let ids = [1, 2].map(|_| server.api.call("probe_count", "{}").str("requestId").to_owned());
    assert_eq!(ids[0].len(), 32);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_read_has_up_to_three_attempts_and_says_how_many_it_took() {
    let server = Setup::of(&["probe"]).start();
    let answer = server.api.call("probe_flaky", r#"{"until":3,"by":"transient"}"#);
    assert_eq!(answer.check("200 Succeeded").body["attempts"], 3);
    assert_eq!(answer.body["result"], 3);
    let answer = server.api.call("probe_flaky", r#"{"until":4,"by":"transient"}"#);
    assert_eq!(answer.check("503 UPSTREAM_UNAVAILABLE").body["attempts"], 3);
    for (by, words) in
        [("refuse", "422 REFUSED"), ("fail", "502 HANDLER_FAILED"), ("trap", "502 HANDLER_TRAPPED")]
    {
        let answer = server.api.call("probe_flaky", &json!({ "until": 2, "by": by }).to_string());
        assert_eq!(answer.check(words).body["attempts"], 1, "{by} is not retried");
    }
}

#[test]
fn the_tuning_block_of_the_page_is_a_configuration() {
    let tuning = r#"{"ToolTransport": {"TimeoutSeconds": 20, "MaxAttempts": 1, "MaxResponseBytes": 262144}}"#;
    let server: Server = Setup::of(&["probe"]).config("tether.json", tuning).start();
    let answer = server.api.call("probe_flaky", r#"{"until":2,"by":"transient"}"#);
    assert_eq!(answer.check("503 UPSTREAM_UNAVAILABLE").body["attempts"], 1);
    assert_eq!(server.api.call("probe_big", r#"{"bytes":262144}"#).words(), "200 Succeeded");
    assert_eq!(server.api.call("probe_big", r#"{"bytes":262145}"#).words(), "502 RESULT_TOO_LARGE");
}

#[test]
fn the_pages_own_tool_voids_a_ticket_once() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let first = server.api.confirm(&id, "{}");
    assert_eq!(first.check("200 Succeeded").body["result"], json!({ "ticket_id": 42 }));
    server.api.confirm(&id, "{}").check("200 Replayed");
    let database = crate::support::open_read_only(&server.database("tickets"));
    let count = |sql| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM tickets WHERE id = 42 AND state = 'void'"), 1);
    assert_eq!(count("SELECT count(*) FROM tickets WHERE state = 'void'"), 2, "41 was void before");
    assert_eq!(
        server.api.call("get_ticket", r#"{"ticket_id":42}"#).body["result"]["state"],
        Value::from("void")
    );
}
