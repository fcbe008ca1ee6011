//! Actions: proposed, shown, listed, and their history.

use serde_json::{Value, json};

use crate::support::{Answer, Setup};

/// The members of an action that `http-api.md` promises.
const MEMBERS: [&str; 16] = [
    "status",
    "actionId",
    "commandType",
    "tenant",
    "proposedBy",
    "args",
    "preview",
    "attemptsUsed",
    "maxAttempts",
    "createdAt",
    "expiresAt",
    "result",
    "errorCode",
    "errorMessage",
    "effect",
    "ledger",
];

#[test]
fn a_write_is_proposed_and_shown_with_preview_and_arguments() {
    let server = Setup::of(&["tickets"]).start();
    let proposed = server.api.call("void_ticket", r#"{ "ticket_id": 42 }"#);
    proposed.check("202 Pending");
    for member in MEMBERS {
        assert!(proposed.body.get(member).is_some(), "{member} is missing in {}", proposed.text);
    }
    assert_eq!(proposed.raw("args"), r#"{ "ticket_id": 42 }"#);
    assert_eq!(proposed.str("preview"), "Void ticket 42 (open, 45.00 EUR)");
    assert_eq!(proposed.str("commandType"), "void_ticket");
    assert_eq!((&proposed.body["attemptsUsed"], &proposed.body["maxAttempts"]), (&json!(0), &json!(3)));
    for absent in ["result", "errorCode", "errorMessage", "effect"] {
        assert_eq!(proposed.body[absent], Value::Null, "{absent}");
    }
    assert_eq!(proposed.body["ledger"], json!([]));
    assert!(proposed.str("createdAt") < proposed.str("expiresAt"));
    let shown = server.api.action(proposed.str("actionId"));
    assert_eq!((shown.status, &shown.text), (200, &proposed.text));
    assert_eq!(server.api.call("get_ticket", r#"{"ticket_id":42}"#).body["result"]["state"], "open");
}

#[test]
fn a_success_tells_what_was_committed_and_where() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let done = server.api.confirm(&id, "{}");
    assert_eq!(done.check("200 Succeeded").str("effect"), "Applied");
    let entry = &done.body["ledger"][0];
    assert_eq!(
        (&entry["kind"], &entry["database"], &entry["attempt"]),
        (&json!("committed"), &json!("main"), &json!(1))
    );
    assert_eq!(entry["statements"].as_array().map(Vec::len), Some(1));
    assert!(
        entry["statements"][0].as_str().is_some_and(|sql| sql.contains("$1") && !sql.contains("42")),
        "{entry}"
    );
}

/// The ids of a list.
fn ids(list: &Answer) -> Vec<String> {
    let actions = list.body["actions"].as_array().expect("a list");
    actions.iter().filter_map(|action| action["actionId"].as_str()).map(str::to_owned).collect()
}

#[test]
fn actions_are_listed_newest_first_in_parts() {
    let server = Setup::of(&["probe"]).start();
    let mut made: Vec<_> = (0..5).map(|_| server.api.propose("probe_nothing", "{}")).collect();
    made.reverse();
    assert_eq!(ids(&server.api.get("/v1/actions")), made);

    let mut seen = Vec::new();
    let mut path = "/v1/actions?limit=2".to_owned();
    loop {
        let part = server.api.get(&path);
        seen.extend(ids(&part));
        let Some(cursor) = part.body["nextCursor"].as_str() else { break };
        assert_eq!(seen.len() % 2, 0);
        path = format!("/v1/actions?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, made, "each once, in order");
}

#[test]
fn a_list_can_be_of_one_status() {
    let server = Setup::of(&["probe"]).start();
    let [pending, declined, done] = [(); 3].map(|()| server.api.propose("probe_nothing", "{}"));
    server.api.decline(&declined, "{}").check("200 Declined");
    server.api.confirm(&done, "{}").check("200 Succeeded");
    for (status, expected) in [("Pending", &pending), ("Declined", &declined), ("Succeeded", &done)] {
        assert_eq!(ids(&server.api.get(&format!("/v1/actions?status={status}"))), [expected.as_str()]);
    }
    assert_eq!(ids(&server.api.get("/v1/actions?status=Failed")), [""; 0]);
}

#[test]
fn a_list_that_cannot_be_is_400() {
    let server = Setup::of(&["probe"]).start();
    for query in ["status=Done", "limit=0", "limit=201", "limit=x", "stauts=Pending", "limit=1&limit=2"] {
        server.api.get(&format!("/v1/actions?{query}")).check("400 INVALID_ARGUMENTS");
    }
}

#[test]
fn a_history_is_told_oldest_first() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write_until", r#"{"succeed_on":2}"#);
    server.api.confirm(&id, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let history = server.api.get(&format!("/v1/actions/{id}/history"));
    let events = history.body["events"].as_array().expect("a list");
    let moves: Vec<_> =
        events.iter().map(|event| (event["from"].as_str(), event["to"].as_str().unwrap())).collect();
    assert_eq!(
        moves,
        [
            (None, "Pending"),
            (Some("Pending"), "Executing"),
            (Some("Executing"), "Pending"),
            (Some("Pending"), "Executing"),
            (Some("Executing"), "Succeeded"),
        ]
    );
    let times: Vec<_> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(events[1]["actor"].is_string() && events[2]["actor"].is_null(), "who confirmed, and the host");
    assert!(events.iter().all(|event| event["detail"].is_string() && event["attempt"].is_u64()));
}
