//! `kill -9` around a request: what cannot be known is told as unknown.

use serde_json::json;

use super::{gateway, outgoing};
use crate::support::{Reply, Upstream};

#[track_caller]
fn check(point: &'static str, requests: usize) {
    let upstream = Upstream::always(Reply::ok(""));
    let mut server = gateway(&upstream, "5").fault(point).start();
    let arguments = outgoing("POST", &upstream.url("/refunds"), json!({}));
    let id = server.api.propose("probe_send_then_write", &arguments);
    let lost = server.api.begin_confirm(&id, "{}");
    server.die_at_the_fault();
    drop(lost);

    let action = server.api.action(&id);
    assert_eq!(action.check("200 Pending EXECUTION_FAILED_RETRYABLE").str("effect"), "Unknown", "{point}");
    assert_eq!(action.body["attemptsUsed"], 1, "{point}");
    let sent = &action.body["ledger"][0];
    assert_eq!((&sent["path"], &sent["answer"]), (&json!("/refunds"), &json!("in_doubt")), "{point}");
    assert_eq!(upstream.received().len(), requests, "{point}: nothing is sent by itself");
    assert_eq!(server.effects_of(&id), 0, "{point}");

    // A person has looked, and says yes again: the same key leaves.
    server.api.confirm(&id, r#"{"attemptsUsed":1}"#).check("200 Succeeded");
    let received = upstream.received();
    assert_eq!(received.len(), requests + 1, "{point}");
    assert!(received.iter().all(|request| request.key() == id), "{point}: {received:?}");
    assert_eq!(server.effects_of(&id), 1, "{point}");
}

#[test]
fn a_request_that_was_noted_may_have_left() {
    check("noted", 0);
}

#[test]
fn a_request_whose_answer_was_not_written_down_is_in_doubt() {
    check("answer-told", 1);
}
