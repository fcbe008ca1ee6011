//! Streams that listen for a changed list.

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
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
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
