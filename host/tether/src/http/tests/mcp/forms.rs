//! Forms about what was tried already.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tether_core::failure::{Cause, Failure};
use tether_core::identity::Role;
use tokio::net::TcpStream;

use super::super::server::{Answer, Server};
use super::client::{Client, STATELESS, rest};
use super::decisions::{SESSIONS, able, answer, asked, forms};

const YES: &str = r#"{"action":"accept","content":{"decision":"confirm"}}"#;

const KEY: &str = "Idempotency-Key: k";

/// A server whose forms count, and whose next write sends something and then fails.
async fn failing() -> Server {
    let server = Server::deciding_by_forms().await;
    server.handlers.sends.store(true, Ordering::SeqCst);
    let failure = Failure::new(Cause::TimedOut, "the peer did not answer");
    server.handlers.writes.lock().unwrap().push_back(failure);
    server
}

/// A person confirms over HTTP, and it fails.
async fn tried(server: &Server, id: &str) -> Answer {
    let ann = server.token("acme", "ann", &[Role::Approver]).await;
    let tried = server.send_as(&ann, "POST", &format!("/v1/actions/{id}/confirm"), &[], "").await;
    assert_eq!((tried.at("/status"), tried.at("/effect")), (&json!("FailedRetryable"), &json!("Unknown")));
    tried
}

/// A form that a client was given, and what it is answered with.
enum Form {
    InSession { stream: TcpStream, id: Value },
    Stateless { state: String },
}

/// The form of the proposal with the key, and what it says.
async fn form(client: &Client) -> (Form, String) {
    if client.revision == STATELESS {
        let params = r#"{"name":"write","arguments":{"n":1}}"#;
        let told = client.ask_as(client.fresh_id(), "tools/call", params, &[KEY]).await;
        let result = told.result();
        let message = &result["inputRequests"]["decision"]["params"]["message"];
        let state = result["requestState"].as_str().unwrap_or_else(|| panic!("no form: {}", told.text));
        return (Form::Stateless { state: state.to_owned() }, message.as_str().unwrap().to_owned());
    }
    let mut stream = client.started_saying(client.fresh_id(), "write", r#"{"n":1}"#, &[KEY]).await;
    let (id, params) = asked(&mut stream).await;
    (Form::InSession { stream, id }, params["message"].as_str().unwrap().to_owned())
}

/// What a yes comes to.
async fn confirmed(client: &Client, form: Form) -> String {
    match form {
        Form::InSession { mut stream, id } => {
            answer(client, &id, YES).await;
            rest(&mut stream).await
        }
        Form::Stateless { state } => {
            let params = format!(
                r#"{{"name":"write","arguments":{{"n":1}},"requestState":"{state}","inputResponses":{{"decision":{YES}}}}}"#
            );
            client.ask("tools/call", &params).await.text
        }
    }
}

#[tokio::test]
async fn a_form_about_what_was_tried_tells_what_is_known_of_it() {
    for revision in [SESSIONS, STATELESS] {
        let server = failing().await;
        let unable = able(&server, revision, json!({})).await;
        let params = r#"{"name":"write","arguments":{"n":1}}"#;
        let proposed = unable.ask_as(unable.fresh_id(), "tools/call", params, &[KEY]).await;
        let id = proposed.result()["structuredContent"]["actionId"].as_str().unwrap().to_owned();
        let tried = tried(&server, &id).await;

        let client = able(&server, revision, forms()).await;
        let (form, message) = form(&client).await;
        let check = tried.at("/check").as_str().unwrap();
        let sent = "\"POST https://api.example.com/refunds left at ";
        for part in [
            "It was tried already: 1 of 3 attempts are used.",
            "Attempt 1 failed (TIMED_OUT): \"the peer did not answer\"",
            check,
            sent,
            "attempt 1, step \"refund\": ",
            "attempt 2 of 3",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!message.contains("it runs once, now"), "{message}");
        let done = confirmed(&client, form).await;
        assert!(done.contains(r#""status":"Succeeded""#) && done.contains(r#""attemptsUsed":2"#), "{done}");
    }
}

#[tokio::test]
async fn a_yes_is_about_the_attempts_that_its_form_told_of() {
    for revision in [SESSIONS, STATELESS] {
        let server = failing().await;
        let client = able(&server, revision, forms()).await;
        let (form, message) = form(&client).await;
        assert!(message.ends_with("If you confirm, it runs once, now."), "{message}");
        let ann = server.token("acme", "ann", &[Role::Approver]).await;
        let list = server.send_as(&ann, "GET", "/v1/actions", &[], "").await;
        let id = list.at("/actions/0/actionId").as_str().unwrap().to_owned();
        tried(&server, &id).await;

        let told = confirmed(&client, form).await;
        assert!(told.contains(r#""errorCode":"ACTION_CHANGED""#), "{told}");
        let said =
            r#""text":"Nothing ran for this answer, and it decides nothing any more (ACTION_CHANGED): "#;
        assert!(told.contains(said), "{told}");
        let action = server.send_as(&ann, "GET", &format!("/v1/actions/{id}"), &[], "").await;
        assert_eq!((action.at("/status"), action.at("/attemptsUsed")), (&json!("Pending"), &json!(1)));
    }
}
