//! Crowds: each effect once, and nobody is turned away.

use crate::support::{Answer, Setup, crowd, eventually};

const CROWD: usize = 200;

#[test]
fn f5_two_hundred_who_confirm_one_action_execute_it_once() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"crowd","then":"sleep:200","when":"before"}"#);
    let answers = crowd(CROWD, |number| {
        // Some bring the same key, some their own, some none.
        let body = match number % 3 {
            0 => "{}".to_owned(),
            1 => r#"{"idempotencyKey":"shared"}"#.to_owned(),
            _ => format!(r#"{{"idempotencyKey":"own-{number}"}}"#),
        };
        server.api.confirm(&id, &body)
    });

    let told = |words: &str| answers.iter().filter(|answer| answer.words() == words).count();
    let conflicts = told("409 Conflict ACTION_EXECUTING") + told("409 Conflict ACTION_DECIDED");
    assert_eq!(told("200 Succeeded"), 1);
    assert_eq!(1 + told("200 Replayed") + conflicts, CROWD, "{:?}", summary(&answers));
    let results: Vec<_> =
        answers.iter().filter(|answer| answer.status == 200).map(|a| a.raw("result")).collect();
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    assert_eq!(server.effects_of(&id), 1);
    let history = server.api.get(&format!("/v1/actions/{id}/history"));
    assert_eq!(history.body["events"].as_array().map(Vec::len), Some(3), "proposed, claimed, settled");
}

#[test]
fn two_hundred_different_actions_confirmed_at_once_all_succeed() {
    let server = Setup::of(&["probe"]).start();
    let propose = |number| server.api.propose("probe_write", &format!(r#"{{"note":"{number}"}}"#));
    let ids: Vec<_> = (0..CROWD).map(propose).collect();
    let answers = crowd(CROWD, |number| server.api.confirm(&ids[number], "{}"));
    assert_eq!(summary(&answers), [("200 Succeeded".to_owned(), CROWD)]);
    let mut done: Vec<_> = server.effects().into_iter().map(|effect| (effect.key, effect.note)).collect();
    let mut expected: Vec<_> = (0..CROWD).map(|number| (ids[number].clone(), number.to_string())).collect();
    done.sort();
    expected.sort();
    assert_eq!(done, expected, "each once");
}

#[test]
fn without_a_free_place_nothing_is_claimed() {
    let server = Setup::of(&["probe"])
        .env("TETHER_LIMITS__MAX_CONCURRENT", "1")
        .env("TETHER_LIMITS__QUEUE_TIME", "0s")
        .env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "5")
        .start();
    let slow = server.api.propose("probe_write", r#"{"note":"slow","then":"sleep:60000"}"#);
    let other = server.api.propose("probe_write", r#"{"note":"other"}"#);
    let _slow = server.api.begin_confirm(&slow, "{}");
    eventually("the only place is taken", || (server.effects_of(&slow) == 1).then_some(()));
    let refused = server.api.confirm(&other, "{}");
    assert!(refused.check("503 OVERLOADED").header("retry-after").is_some(), "{refused:?}");
    server.api.call("probe_echo", "{}").check("503 OVERLOADED");
    assert_eq!(server.api.action(&other).check("200 Pending").body["attemptsUsed"], 0);
    server.api.confirm(&slow, "{}").check("200 Replayed");
    server.api.confirm(&other, "{}").check("200 Succeeded");
}

/// What was told, and to how many.
fn summary(answers: &[Answer]) -> Vec<(String, usize)> {
    let mut words: Vec<_> = answers.iter().map(Answer::words).collect();
    words.sort();
    words.chunk_by(|a, b| a == b).map(|same| (same[0].clone(), same.len())).collect()
}
