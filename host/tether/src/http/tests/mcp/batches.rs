//! Several messages in one body.

use std::collections::BTreeMap;

use super::super::server::Server;
use super::client::Client;

/// The messages of an answer by their ids.
fn by_id(answer: &super::client::Got) -> BTreeMap<String, serde_json::Value> {
    answer.messages.iter().map(|message| (message["id"].to_string(), message.clone())).collect()
}

#[tokio::test]
async fn each_request_of_a_batch_is_answered_and_what_is_none_as_well() {
    let server = Server::start().await;
    let client = Client::new(&server, "2025-03-26").await;
    let call = |id: u64, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        )
    };
    let body = format!(
        r#"[{}, {}, {{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":1}}}},
            {{"jsonrpc":"2.0","id":"bad","method":7}}, {{"jsonrpc":"2.0","id":9,"method":"initialize","params":{{}}}}]"#,
        call(101, r#"{"n":9007199254740993}"#),
        call(102, r#"{"n":1.0}"#),
    );
    let answer = client.post(&body, &[]).await;
    let answers = by_id(&answer);
    assert_eq!(answers.keys().collect::<Vec<_>>(), ["\"bad\"", "101", "102", "9"], "{}", answer.text);
    assert!(answer.text.contains(r#""structuredContent":{"n":9007199254740993}"#), "{}", answer.text);
    assert!(answer.text.contains(r#""structuredContent":{"n":1.0}"#), "{}", answer.text);
    assert_eq!(answers["\"bad\""]["error"]["code"], -32600);
    assert_eq!(answers["9"]["error"]["message"], "`initialize` is sent alone");
}

#[tokio::test]
async fn a_batch_that_asks_for_nothing_is_accepted() {
    let server = Server::start().await;
    let client = Client::new(&server, "2025-03-26").await;
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    let answer = client.post(&format!("[{note},{note}]"), &[]).await;
    assert_eq!((answer.status, answer.text.as_str()), (202, ""));
}

#[tokio::test]
async fn a_batch_of_another_revision_an_empty_and_a_long_one_are_refused() {
    let server = Server::start().await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let client = Client::new(&server, revision).await;
        client.post(&format!("[{ping}]"), &[]).await.is_error(400, -32600, "one message in this revision");
    }
    let client = Client::new(&server, "2025-03-26").await;
    client.post("[]", &[]).await.is_error(400, -32600, "no message");
    let many = vec![ping; 101].join(",");
    client.post(&format!("[{many}]"), &[]).await.is_error(400, -32600, "at most 100");
    client.post(&format!("[{ping},{ping}]"), &[]).await.is_error(400, -32600, "the same id");
    client.post("[", &[]).await.is_error(400, -32700, "not valid JSON");
}
