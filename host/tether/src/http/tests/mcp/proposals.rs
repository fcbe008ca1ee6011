//! Calls of writes, and what is told of them.

use std::time::Duration;

use serde_json::json;
use tether_core::identity::Role;

use super::super::server::{Server, TOKEN};
use super::client::{Client, STATELESS, until};

const BOTH: [&str; 2] = ["2025-11-25", STATELESS];

#[tokio::test]
async fn a_write_is_proposed_and_a_person_decides() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let proposed = client.call("write", r#"{"n":9007199254740993}"#).await;
        assert_eq!(proposed.result()["isError"], false);
        let action = &proposed.result()["structuredContent"];
        assert_eq!((&action["status"], &action["proposedBy"]), (&json!("Pending"), &json!("bot")));
        assert!(proposed.text.contains(r#""args":{"n":9007199254740993}"#), "{}", proposed.text);
        let id = action["actionId"].as_str().unwrap().to_owned();
        let page = format!("http://127.0.0.1:0/inbox/actions/{id}");
        assert_eq!(proposed.result()["_meta"]["tether/inboxUrl"], page);
        let said = proposed.said();
        assert!(
            said.starts_with("Nothing is done yet. A person has been asked to decide about write, action ")
        );
        assert!(said.contains("It would: \"Write it\"\nDo not call write again for this;"), "{said}");
        assert!(
            said.contains(&page) && said.contains(&format!(r#"tether_actions {{"actionId":"{id}"}}"#)),
            "{said}"
        );

        let one = format!(r#"{{"actionId":"{id}"}}"#);
        assert!(client.call("tether_actions", &one).await.said().starts_with("Nothing is done yet."));
        let ann = server.token("acme", "ann", &[Role::Approver]).await;
        let confirm = format!("/v1/actions/{id}/confirm");
        assert_eq!(server.send_as(&ann, "POST", &confirm, &[], "").await.at("/status"), "Succeeded");
        let done = client.call("tether_actions", &one).await;
        assert_eq!(
            done.said(),
            format!(r#"Done. Action {id} of write ran once, and gave: {{"n":9007199254740993}}"#)
        );
        let told = &done.result()["structuredContent"]["actions"][0];
        assert_eq!((&told["status"], &told["decidedBy"]), (&json!("Succeeded"), &json!("ann")));
        assert!(done.text.contains(r#""result":{"n":9007199254740993}"#), "{}", done.text);
    }
}

#[tokio::test]
async fn the_object_of_a_proposal_is_that_of_http() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let proposed = client.call_with("write", r#"{"n":1.0}"#, "a key").await;
    let token = &client.token;
    let same = server
        .send_as(token, "POST", "/v1/tools/write/calls", &["Idempotency-Key: a key"], r#"{"args":{"n":1.0}}"#)
        .await;
    assert_eq!(same.status, 202);
    assert!(proposed.text.contains(&format!(r#""structuredContent":{}"#, same.text)), "{}", proposed.text);
}

/// Arguments of so many bytes.
fn arguments_of(bytes: usize) -> String {
    let text = "x".repeat(bytes - r#"{"text":""}"#.len());
    format!(r#"{{"text":"{text}"}}"#)
}

#[tokio::test]
async fn long_arguments_are_not_sent_back() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for (bytes, are_told) in [(64 << 10, true), ((64 << 10) + 1, false), (1 << 20, false)] {
            let arguments = arguments_of(bytes);
            let proposed = client.call("write", &arguments).await;
            let action = &proposed.result()["structuredContent"];
            assert_eq!(
                (action["args"].is_object(), &action["argsErased"]),
                (are_told, &json!(false)),
                "{bytes}"
            );
            assert!(proposed.text.len() < 128 << 10, "{}", proposed.text.len());
            let id = action["actionId"].as_str().unwrap();
            let one = client.call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#)).await;
            assert_eq!(one.result()["structuredContent"]["actions"][0]["args"].is_object(), are_told);
            let http = server.send_as(&client.token, "GET", &format!("/v1/actions/{id}"), &[], "").await;
            assert!(http.text.contains(&arguments), "the API has them");
        }
    }
}

#[tokio::test]
async fn a_page_of_actions_ends_where_it_would_be_too_long_and_the_next_goes_on_there() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let proposed = client.call("write", &arguments_of(64 << 10)).await;
        ids.push(proposed.result()["structuredContent"]["actionId"].clone());
    }
    ids.reverse();
    for limit in [20, 7] {
        let (mut told, mut pages, mut cursor) = (Vec::new(), Vec::new(), json!(null));
        loop {
            let mut wanted = json!({"limit": limit});
            if !cursor.is_null() {
                wanted["cursor"] = cursor;
            }
            let list = client.call("tether_actions", &wanted.to_string()).await;
            assert!(list.text.len() < 1_200_000, "{}", list.text.len());
            let page = &list.result()["structuredContent"];
            let actions = page["actions"].as_array().unwrap();
            pages.push(actions.len());
            told.extend(actions.iter().map(|action| action["actionId"].clone()));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(told, ids, "each once, in order");
        assert_eq!(pages, if limit == 20 { vec![15, 5] } else { vec![7, 7, 6] });
    }
}

#[tokio::test]
async fn a_key_makes_a_proposal_repeatable() {
    let server = Server::start().await;
    let id = |answer: &super::client::Got| answer.result()["structuredContent"]["actionId"].clone();
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let first = id(&client.call_with("write", "{}", revision).await);
        assert_eq!(id(&client.call_with("write", "{}", revision).await), first);
        let header = format!("Idempotency-Key: {revision}");
        let params = r#"{"name":"write","arguments":{}}"#;
        assert_eq!(id(&client.ask_as(client.fresh_id(), "tools/call", params, &[&header]).await), first);
        client.call_with("write", r#"{"n":2}"#, revision).await.has_failed("IDEMPOTENCY_KEY_REUSED");
        assert_ne!(id(&client.call("write", "{}").await), first, "without a key it is another one");
    }
}

#[tokio::test]
async fn an_id_is_used_once_in_a_session_and_so_is_a_key_there() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let params = r#"{"name":"write","arguments":{"n":1}}"#;
    let id = |answer: &super::client::Got| answer.result()["structuredContent"]["actionId"].clone();
    let first = id(&client.ask_as(50, "tools/call", params, &[]).await);
    assert_eq!(id(&client.ask_as(50, "tools/call", params, &[]).await), first);
    let other = r#"{"name":"write","arguments":{"n":2}}"#;
    client.ask_as(50, "tools/call", other, &[]).await.has_failed("IDEMPOTENCY_KEY_REUSED");
    let another = Client::with(&server, client.token.clone(), BOTH[0]).await;
    assert_ne!(id(&another.ask_as(50, "tools/call", params, &[]).await), first, "another session");
    let stateless = Client::with(&server, client.token.clone(), STATELESS).await;
    let [one, two] = [
        stateless.ask_as(50, "tools/call", params, &[]).await,
        stateless.ask_as(50, "tools/call", params, &[]).await,
    ];
    assert_ne!(id(&one), id(&two), "there an id is none");
}

#[tokio::test]
async fn a_key_of_another_type_and_two_keys_are_errors_of_the_protocol() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let call = |meta: &str| format!(r#"{{"name":"write","arguments":{{}},"_meta":{meta}}}"#);
        let wrong = call(r#"{"tether/idempotencyKey":5}"#);
        client.ask("tools/call", &wrong).await.is_error(200, -32602, "must be a text");
        let empty = call(r#"{"tether/idempotencyKey":""}"#);
        client.ask("tools/call", &empty).await.is_error(200, -32602, "an idempotency key is");
        let one = call(r#"{"tether/idempotencyKey":"a"}"#);
        let two = client.ask_as(client.fresh_id(), "tools/call", &one, &["Idempotency-Key: b"]).await;
        two.is_error(200, -32602, "two different keys");
    }
    let token = server.token("acme", "ann", &[Role::Approver]).await;
    let list = server.send_as(&token, "GET", "/v1/actions", &[], "").await;
    assert_eq!(list.at("/actions"), &json!([]), "nothing was proposed");
}

#[tokio::test]
async fn one_sees_ones_own_actions_and_no_others() {
    let server = Server::start().await;
    // Everything that a token can be allowed: over MCP it is an agent's all the same.
    let all = server.token("acme", "boss", &Role::ALL).await;
    let id = server.propose().await;
    let colleague = server.token("acme", "colleague", &[Role::Agent]).await;
    let theirs = server.send_as(&colleague, "POST", "/v1/tools/write/calls", &[], "{}").await;
    let theirs = theirs.at("/actionId").as_str().unwrap();
    assert_eq!(server.send_as(&all, "GET", &format!("/v1/actions/{theirs}"), &[], "").await.status, 200);
    for revision in BOTH {
        let client = Client::with(&server, all.clone(), revision).await;
        client
            .call("tether_actions", &format!(r#"{{"actionId":"{theirs}"}}"#))
            .await
            .has_failed("ACTION_NOT_FOUND");
        let list = client.call("tether_actions", "{}").await;
        assert_eq!(list.result()["structuredContent"], json!({"actions": [], "nextCursor": null}));
        client
            .call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#))
            .await
            .has_failed("ACTION_NOT_FOUND");
        let none = format!(r#"{{"actionId":"{}"}}"#, "0".repeat(32));
        client.call("tether_actions", &none).await.has_failed("ACTION_NOT_FOUND");
        client.call("tether_actions", r#"{"limit":0}"#).await.has_failed("INVALID_ARGUMENTS");
        client.call("tether_actions", r#"{"cursor":"x"}"#).await.has_failed("INVALID_ARGUMENTS");
    }
    let own = Client::with(&server, TOKEN.to_owned(), STATELESS).await;
    let list = own.call("tether_actions", r#"{"limit":2e0,"status":"Pending"}"#).await;
    assert_eq!(list.said(), format!("{id} write: Pending"));
}

#[tokio::test]
async fn a_proposal_whose_client_goes_away_is_kept() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let mut stream = client.started(90, "write", r#"{"n":90}"#).await;
        // The head is there, so that the request was read.
        until(&mut stream, "HTTP/1.0 200").await;
        drop(stream);
        let ann = server.token("acme", "ann", &[Role::Approver]).await;
        let count = async || {
            let list = server.send_as(&ann, "GET", "/v1/actions", &[], "").await;
            list.at("/actions").as_array().unwrap().len()
        };
        let kept = async { while count().await == 0 {} };
        tokio::time::timeout(Duration::from_secs(10), kept).await.expect("it is kept");
    }
}
