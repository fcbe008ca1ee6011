//! Streams that listen for a changed list.

use std::time::Duration;

use tether_core::identity::Role;

use super::super::server::Server;
use super::client::{Client, STATELESS, rest, until};

#[tokio::test]
async fn a_stream_of_a_session_begins_with_look_again_and_ends_with_the_host() {
    let server = Server::start().await;
    let client = Client::new(&server, "2025-11-25").await;
    let mut streams = [client.listening().await, client.listening().await];
    for stream in &mut streams {
        let said = until(stream, "\n\n").await;
        assert!(said.contains("content-type: text/event-stream"), "{said}");
        assert!(said.contains(r#""method":"notifications/tools/list_changed""#), "{said}");
    }
    // A call beside it is answered in its own stream.
    assert_eq!(client.call("echo", "{}").await.said(), "{}");
    server.close();
    for stream in &mut streams {
        assert!(!rest(stream).await.contains("\"result\""));
    }
}

#[tokio::test]
async fn a_subscription_begins_with_look_again_and_ends_well_with_the_host() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let wanted = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true}}"#;
    let listened = client.ask("subscriptions/listen", wanted);
    let closed = async {
        // It would go on for ever.
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.close();
    };
    let (listened, ()) = tokio::join!(listened, closed);
    let methods: Vec<_> = listened.messages.iter().map(|message| message["method"].as_str()).collect();
    let expected = ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"];
    assert_eq!(methods[..2], expected.map(Some), "{}", listened.text);
    let accepted = &listened.messages[0]["params"]["notifications"];
    assert_eq!(accepted, &serde_json::json!({"toolsListChanged": true}), "{}", listened.text);
    assert!(listened.result().is_object(), "it ends with a result: {}", listened.text);
}

#[tokio::test]
async fn a_stream_ends_soon_after_its_token() {
    let server = Server::start().await;
    let wanted = r#"{"tenant":"acme","user":"bot","roles":["agent"]}"#;
    let made = server.post("/v1/tokens", wanted).await;
    let [token, id] = ["/token", "/tokenId"].map(|member| made.at(member).as_str().unwrap().to_owned());
    let other = server.token("acme", "other", &[Role::Agent]).await;
    let listening = async |token: &str| {
        let session = Client::with(&server, token.to_owned(), "2025-11-25").await;
        let stateless = Client::with(&server, token.to_owned(), STATELESS).await;
        [session.listening().await, stateless.subscribed().await]
    };
    let (mut ending, mut staying) = (listening(&token).await, listening(&other).await);
    for stream in ending.iter_mut().chain(&mut staying) {
        until(stream, "notifications/tools/list_changed").await;
    }
    assert_eq!(server.send("DELETE", &format!("/v1/tokens/{id}"), &[], "").await.status, 200);
    for stream in &mut ending {
        let ended = tokio::time::timeout(Duration::from_secs(15), rest(stream)).await;
        ended.expect("it ends");
    }
    for stream in &mut staying {
        let ended = tokio::time::timeout(Duration::from_millis(50), rest(stream)).await;
        assert!(ended.is_err(), "of nobody else's");
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_session_and_does_not_keep_it_open() {
    let server = Server::with_sessions_of(Duration::from_secs(1)).await;
    let client = Client::new(&server, "2025-11-25").await;
    let mut stream = client.listening().await;
    until(&mut stream, "notifications/tools/list_changed").await;
    tokio::time::timeout(Duration::from_secs(15), rest(&mut stream)).await.expect("it ends");
    client.ask("ping", "{}").await.is_error(404, -32001, "no such session");
}
