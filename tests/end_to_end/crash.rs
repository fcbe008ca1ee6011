//! Hosts that die, and the start after it. Here is what people are told, one case after
//! the other; `killed` and `in_process` go through every fault point that there is.

mod folders;
#[cfg(debug_assertions)]
mod in_process;
mod killed;
mod life;
mod pairs;
mod past;
mod told;
mod writes;

use serde_json::Value;

use crate::support::{Answer, Server, Setup, eventually, open_read_only};

/// Where an action stands after the host died in its first attempt.
struct After {
    status: &'static str,
    attempts_used: u32,
    effect: Value,
    effects: usize,
    /// What a person is told who confirms again.
    again: &'static str,
}

/// Dies at `point` of confirming a write, and checks what the next start makes of it.
#[track_caller]
fn check(point: &'static str, expected: &After) {
    let mut server = Setup::of(&["probe"]).fault(point).start();
    let id = server.api.propose("probe_write", r#"{"note":"crash"}"#);
    let lost = server.api.begin_confirm(&id, r#"{"idempotencyKey":"k"}"#);
    server.die_at_the_fault();
    drop(lost);
    check_nothing_executes(&server);

    let action = server.api.action(&id);
    let After { status, attempts_used, effect, effects, again } = expected;
    assert_eq!(action.str("status"), *status, "{point}");
    assert_eq!(action.body["attemptsUsed"], *attempts_used, "{point}");
    assert_eq!(action.body["effect"], *effect, "{point}");
    assert_eq!(server.effects_of(&id), *effects, "{point}");
    let committed = action.body["ledger"].as_array().expect("a list").len();
    assert_eq!(committed, *effects, "{point}: the ledger tells what was seen");

    let told =
        server.api.confirm(&id, &format!(r#"{{"idempotencyKey":"k","attemptsUsed":{attempts_used}}}"#));
    assert_eq!(told.check(again).str("effect"), "Applied", "{point}");
    assert_eq!(server.effects_of(&id), 1, "{point}");
    assert_eq!(server.api.confirm(&id, "{}").check("200 Replayed").raw("result"), told.raw("result"));
}

/// The server just said that it is ready: nothing may be left to settle.
#[track_caller]
fn check_nothing_executes(server: &Server) {
    let actions = open_read_only(&server.file("actions.db"));
    let sql = "SELECT count(*) FROM actions WHERE status = 'Executing'";
    assert_eq!(actions.query_row(sql, [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[test]
fn before_the_claim_nothing_has_happened() {
    let after = After {
        status: "Pending",
        attempts_used: 0,
        effect: Value::Null,
        effects: 0,
        again: "200 Succeeded",
    };
    check("before-claim", &after);
}

#[test]
fn f8_before_the_commit_the_attempt_is_used_and_nothing_was_done() {
    for point in ["claimed", "before-commit"] {
        let after = After {
            status: "Pending",
            attempts_used: 1,
            effect: "None".into(),
            effects: 0,
            again: "200 Succeeded",
        };
        check(point, &after);
    }
}

#[test]
fn f2_after_the_commit_it_succeeded() {
    for point in ["committed", "before-finish", "finished"] {
        let after = After {
            status: "Succeeded",
            attempts_used: 1,
            effect: "Applied".into(),
            effects: 1,
            again: "200 Replayed",
        };
        check(point, &after);
    }
}

#[test]
fn nobody_is_told_to_come_in_before_all_is_settled() {
    let mut server = Setup::of(&["probe"]).fault("committed").start();
    let id = server.api.propose("probe_write", r#"{"note":"crash"}"#);
    let _lost = server.api.begin_confirm(&id, "{}");
    server.wait_for_the_fault();
    server.restart_into("before-finish");
    // It halts in its recovery, at the place of the old one.
    for (path, status) in [("/healthz", 200), ("/readyz", 503), ("/v1/actions", 503)] {
        let answer = eventually("it listens", || server.api.try_get(path).ok());
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    server.restart();
    server.api.get("/readyz").check("200 ok");
    server.api.action(&id).check("200 Succeeded");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_step_that_committed_before_the_crash_is_told_and_not_done_again() {
    let mut server = Setup::of(&["probe"]).fault("committed").start();
    let id = server.api.propose("probe_steps", r#"{"steps":2}"#);
    let _lost = server.api.begin_confirm(&id, "{}");
    server.die_at_the_fault();
    let action = server.api.action(&id);
    action.check("200 Pending EXECUTION_FAILED_RETRYABLE");
    assert_eq!(
        (action.str("effect"), action.body["ledger"][0]["step"].as_str()),
        ("Applied", Some("step-1"))
    );
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let done: Vec<_> = server.effects().into_iter().map(|effect| (effect.note, effect.attempt)).collect();
    assert_eq!(done, [("step-1".into(), 1), ("step-2".into(), 2), ("main".into(), 2)]);
}

#[test]
fn three_crashes_use_up_three_attempts() {
    let mut server = Setup::of(&["probe"]).fault("before-commit").start();
    let id = server.api.propose("probe_write", r#"{"note":"crash"}"#);
    for used in 1..=3 {
        let _lost = server.api.begin_confirm(&id, "{}");
        server.wait_for_the_fault();
        server.restart_with_the_fault();
        assert_eq!(server.api.action(&id).body["attemptsUsed"], used);
    }
    server.api.action(&id).check("200 Failed EXECUTION_ATTEMPTS_EXHAUSTED");
    server.api.confirm(&id, "{}").check("200 Failed EXECUTION_ATTEMPTS_EXHAUSTED");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_proposal_that_was_answered_survives() {
    let mut server = Setup::of(&["probe"]).start();
    let first = server.api.propose_with("k", "probe_write", r#"{"note":"kept"}"#);
    server.restart();
    let again = server.api.propose_with("k", "probe_write", r#"{"note":"kept"}"#);
    assert_eq!(again.text, first.text);
}

#[test]
fn an_orderly_stop_lets_a_write_end() {
    let mut server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"stop","then":"sleep:500","when":"before"}"#);
    let confirming = server.api.begin_confirm(&id, "{}");
    eventually("it runs", || (server.api.action(&id).str("status") == "Executing").then_some(()));
    assert_eq!(server.stop(), Some(0));
    let told = Answer::read(confirming).expect("whoever waits is told");
    assert_eq!(told.check("200 Succeeded").body["attemptsUsed"], 1);
    server.restart();
    server.api.confirm(&id, "{}").check("200 Replayed");
    assert_eq!(server.effects_of(&id), 1);
}
