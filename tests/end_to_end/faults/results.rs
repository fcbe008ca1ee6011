//! F26: results at the limit. They are whole, or refused; never cut.

use crate::support::{Server, Setup};

const LIMIT: usize = 64;

fn server() -> Server {
    Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__MAX_RESPONSE_BYTES", LIMIT.to_string()).start()
}

/// A result of so many bytes, its last character four of them.
fn arguments(bytes: usize) -> String {
    format!(r#"{{"bytes":{bytes},"emoji":true}}"#)
}

fn result(bytes: usize) -> String {
    format!("\"{}😀\"", "x".repeat(bytes - 6))
}

#[test]
fn f26_a_reads_result_is_whole_or_refused() {
    let server = server();
    for bytes in [LIMIT - 1, LIMIT] {
        let answer = server.api.call("probe_big", &arguments(bytes));
        assert_eq!(answer.check("200 Succeeded").raw("result"), result(bytes));
    }
    for bytes in [LIMIT + 1, LIMIT + 2, LIMIT + 3, LIMIT + 4] {
        server.api.call("probe_big", &arguments(bytes)).check("502 RESULT_TOO_LARGE");
    }
}

#[test]
fn f26_a_writes_result_is_whole_or_refused_before_it_commits() {
    let server = server();
    for bytes in [LIMIT - 1, LIMIT] {
        let id = server.api.propose("probe_big_write", &arguments(bytes));
        assert_eq!(server.api.confirm(&id, "{}").check("200 Succeeded").raw("result"), result(bytes));
        assert_eq!(server.api.confirm(&id, "{}").check("200 Replayed").raw("result"), result(bytes));
        assert_eq!(server.effects_of(&id), 1);
    }
    let id = server.api.propose("probe_big_write", &arguments(LIMIT + 1));
    let outcome = server.api.confirm(&id, "{}");
    assert_eq!(outcome.check("200 Failed EXECUTION_FAILED").body["cause"]["code"], "RESULT_TOO_LARGE");
    assert_eq!((server.effects_of(&id), outcome.str("effect")), (0, "None"));
}

#[test]
fn a_result_that_breaks_its_promise_is_refused_before_it_commits() {
    let server = server();
    server.api.call("probe_lie", "{}").check("502 RESULT_INVALID");
    let id = server.api.propose("probe_lie_write", "{}");
    let outcome = server.api.confirm(&id, "{}");
    assert_eq!(outcome.check("200 Failed EXECUTION_FAILED").body["cause"]["code"], "RESULT_INVALID");
    assert_eq!(server.effects(), []);
}
