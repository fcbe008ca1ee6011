//! What is answered when all goes as it should, or the handler fails.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tether_core::failure::{Cause, Failure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::server::{Server, TOKEN, send};

#[tokio::test]
async fn health_needs_no_token() {
    let server = Server::start().await;
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(send(server.address, "GET", path, &[], b"").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn before_it_is_ready_it_is_alive_and_says_when_to_come_back() {
    let address = Server::starting().await;
    assert_eq!(send(address, "GET", "/healthz", &[], b"").await.status, 200);
    let answer = send(address, "GET", "/readyz", &[], b"").await;
    answer.is(503, "OVERLOADED");
    assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
    let token = format!("Authorization: Bearer {TOKEN}");
    send(address, "GET", "/v1/tools", &[&token], b"").await.is(503, "OVERLOADED");
    send(address, "GET", "/v1/tools", &[], b"").await.is(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn tools_are_listed_by_name() {
    let server = Server::start().await;
    let answer = server.get("/v1/tools").await;
    assert_eq!(answer.at("/tools/0/name"), "echo");
    assert_eq!(answer.at("/tools/3/effect"), "write");
    assert_eq!(answer.at("/tools/3/component/name"), "scripted");
    assert_eq!(answer.at("/tools/0/outputSchema"), &json!(null));
}

#[tokio::test]
async fn a_read_answers_the_text_of_its_handler() {
    let server = Server::start().await;
    let answer = server.post("/v1/tools/echo/calls", r#"{"args": {"n":9007199254740993, "x" : 1.0}}"#).await;
    assert_eq!((answer.status, answer.at("/status")), (200, &json!("Succeeded")));
    assert!(answer.text.contains(r#""result":{"n":9007199254740993, "x" : 1.0}"#), "{}", answer.text);
    assert_eq!(answer.at("/attempts"), 1);
    assert_eq!(answer.at("/requestId").as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn a_refusal_carries_the_handlers_own_code() {
    let server = Server::start().await;
    let answer = server.post("/v1/tools/refuse/calls", "").await;
    answer.is(422, "REFUSED");
    assert_eq!(answer.at("/handlerCode"), "NOT_TODAY");
    assert_eq!(answer.at("/detail"), "not today");
    assert_eq!(answer.at("/attempts"), 1);
}

#[tokio::test]
async fn a_write_is_proposed_confirmed_and_replayed() {
    let server = Server::start().await;
    let id = server.propose().await;
    let shown = server.get(&format!("/v1/actions/{id}")).await;
    assert_eq!((shown.at("/status"), shown.at("/preview")), (&json!("Pending"), &json!("Write it")));
    assert_eq!(shown.at("/args"), &json!({ "n": 1 }));

    let confirm = format!("/v1/actions/{id}/confirm");
    let body = r#"{"idempotencyKey":"k","attemptsUsed":0}"#;
    let first = server.post(&confirm, body).await;
    assert_eq!((first.status, first.at("/status")), (200, &json!("Succeeded")));
    let again = server.post(&confirm, body).await;
    assert_eq!((again.status, again.at("/status")), (200, &json!("Replayed")));
    assert_eq!(again.at("/result"), first.at("/result"));
    let by_header = server.send("POST", &confirm, &["Idempotency-Key: k"], "").await;
    assert_eq!(by_header.at("/status"), "Replayed");

    let other = server.post(&confirm, r#"{"idempotencyKey":"other"}"#).await;
    assert_eq!((other.status, other.at("/status")), (409, &json!("Conflict")));
    assert_eq!(other.at("/errorCode"), "ACTION_DECIDED");

    let second = server.propose().await;
    let reused = server.post(&format!("/v1/actions/{second}/confirm"), body).await;
    reused.is(422, "IDEMPOTENCY_KEY_REUSED");

    let history = server.get(&format!("/v1/actions/{id}/history")).await;
    let to: Vec<_> = history.at("/events").as_array().unwrap().iter().map(|event| &event["to"]).collect();
    assert_eq!(to, ["Pending", "Executing", "Succeeded"]);
}

#[tokio::test]
async fn three_failures_use_an_action_up() {
    let server = Server::start().await;
    let failure = || Failure::new(Cause::Transient, "the CRM is away");
    server.handlers.writes.lock().unwrap().extend([failure(), failure(), failure()]);
    let confirm = format!("/v1/actions/{}/confirm", server.propose().await);

    let first = server.post(&confirm, r#"{"attemptsUsed":0}"#).await;
    assert_eq!((first.status, first.at("/status")), (200, &json!("FailedRetryable")));
    assert_eq!(first.at("/errorCode"), "EXECUTION_FAILED_RETRYABLE");
    let message = "Execution failed transiently; the action remains confirmable (1/3 attempts used).";
    assert_eq!(first.at("/errorMessage"), message);
    assert_eq!(first.at("/cause/code"), "UPSTREAM_UNAVAILABLE");
    assert_eq!(first.at("/effect"), "None");

    let resent = server.post(&confirm, r#"{"attemptsUsed":0}"#).await;
    assert_eq!((resent.status, resent.at("/errorCode")), (409, &json!("ACTION_CHANGED")));

    server.post(&confirm, "{}").await;
    let third = server.post(&confirm, "{}").await;
    assert_eq!((third.status, third.at("/status")), (200, &json!("Failed")));
    assert_eq!(third.at("/errorCode"), "EXECUTION_ATTEMPTS_EXHAUSTED");
    assert_eq!(server.post(&confirm, "{}").await.at("/status"), "Failed");
}

#[tokio::test]
async fn a_request_that_nobody_answered_is_told_with_what_to_check() {
    let server = Server::start().await;
    server.handlers.sends.store(true, Ordering::SeqCst);
    server.handlers.writes.lock().unwrap().push_back(Failure::new(Cause::TimedOut, "no answer"));
    let id = server.propose().await;
    let failed = server.post(&format!("/v1/actions/{id}/confirm"), "{}").await;
    assert_eq!(failed.at("/status"), "FailedRetryable");
    assert_eq!(failed.at("/effect"), "Unknown");
    let check = failed.at("/check").as_str().unwrap();
    for part in ["POST https://api.example.com/refunds left at ", ", no answer.", "must have given up"] {
        assert!(check.contains(part), "{part:?} is missing in: {check}");
    }
    assert_eq!(failed.at("/ledger/0/kind"), "sent");
    assert_eq!(failed.at("/ledger/0/step"), "refund");
    assert_eq!(failed.at("/ledger/0/answer"), "in_doubt");

    // Declined, it keeps its evidence.
    let declined = server.post(&format!("/v1/actions/{id}/decline"), "{}").await;
    assert_eq!((declined.at("/status"), declined.at("/effect")), (&json!("Declined"), &json!("Unknown")));
    assert_eq!(declined.at("/check"), failed.at("/check"));
}

#[tokio::test]
async fn declined_is_declined_and_too_late_is_told() {
    let server = Server::start().await;
    let id = server.propose().await;
    let decline = format!("/v1/actions/{id}/decline");
    for _ in 0..2 {
        let answer = server.post(&decline, r#"{"reason":"wrong ticket"}"#).await;
        assert_eq!((answer.status, answer.at("/status")), (200, &json!("Declined")));
        assert_eq!(answer.at("/declineReason"), "wrong ticket");
    }
    let confirmed = server.post(&format!("/v1/actions/{id}/confirm"), "").await;
    assert_eq!((confirmed.status, confirmed.at("/errorCode")), (409, &json!("ACTION_DECLINED")));

    let done = server.propose().await;
    server.post(&format!("/v1/actions/{done}/confirm"), "").await;
    let late = server.post(&format!("/v1/actions/{done}/decline"), "").await;
    assert_eq!((late.status, late.at("/status")), (409, &json!("Conflict")));
}

#[tokio::test]
async fn actions_are_listed_in_pages_newest_first() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(server.propose().await);
    }
    ids.reverse();
    let mut seen = Vec::new();
    let mut path = "/v1/actions?limit=2&status=Pending".to_owned();
    loop {
        let answer = server.get(&path).await;
        let actions = answer.at("/actions").as_array().unwrap();
        seen.extend(actions.iter().map(|action| action["actionId"].as_str().unwrap().to_owned()));
        let Some(cursor) = answer.at("/nextCursor").as_str() else { break };
        path = format!("/v1/actions?limit=2&status=Pending&cursor={cursor}");
    }
    assert_eq!(seen, ids);
    let none = server.get("/v1/actions?status=Failed").await;
    assert_eq!(none.json, json!({ "actions": [], "nextCursor": null }));
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_its_read() {
    let server = Server::start().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "POST /v1/tools/wait/calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    until(|| server.handlers.waiting.load(Ordering::SeqCst) == 1).await;
    assert_eq!(server.handlers.cancelled.load(Ordering::SeqCst), 0);
    drop(stream);
    until(|| server.handlers.cancelled.load(Ordering::SeqCst) == 1).await;
}

/// Waits for a state, never for a time.
async fn until(reached: impl Fn() -> bool) {
    let waiting = async {
        while !reached() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("it comes to that");
}
