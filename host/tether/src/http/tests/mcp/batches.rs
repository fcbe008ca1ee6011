//! Several messages in one body.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::identity::Role;

use super::super::server::Server;
use super::client::{Client, comes_to, rest};
use super::decisions::{asked, forms};

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
    // Of what revision a session is, it knows without the header.
    let client = Client::new(&server, "2025-11-25").await;
    let told = client.post(&format!("[{ping}]"), &["MCP-Protocol-Version: -"]).await;
    told.is_error(400, -32600, "one message in this revision");
    let client = Client::new(&server, "2025-03-26").await;
    client.post("[]", &[]).await.is_error(400, -32600, "no message");
    let many = vec![ping; 101].join(",");
    client.post(&format!("[{many}]"), &[]).await.is_error(400, -32600, "at most 100");
    client.post(&format!("[{ping},{ping}]"), &[]).await.is_error(400, -32600, "the same id");
    client.post("[", &[]).await.is_error(400, -32700, "not valid JSON");
}

#[tokio::test]
async fn a_batch_may_call_off_what_it_asks_for() {
    let server = Server::start().await;
    let client = Client::new(&server, "2025-03-26").await;
    let call = |id: u64, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
        )
    };
    let off = |id: u64| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    // Whichever comes first in it: a batch has no order.
    for (id, body) in [
        (101, format!("[{},{}]", call(101, "wait"), off(101))),
        (102, format!("[{},{}]", off(102), call(102, "wait"))),
    ] {
        let answer = tokio::time::timeout(Duration::from_secs(10), client.post(&body, &[])).await;
        let answer = answer.expect("it ends");
        assert_eq!((answer.status, answer.messages.len()), (200, 0), "{id}: nobody is told: {}", answer.text);
    }
    let waiting = server.handlers.waiting.load(Ordering::SeqCst);
    comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), waiting).await;
    // A proposal is never called off.
    client.post(&format!("[{},{}]", call(103, "write"), off(103)), &[]).await;
    let same = client.ask_as(103, "tools/call", r#"{"name":"write","arguments":{}}"#, &[]).await;
    let id = same.result()["structuredContent"]["actionId"].clone();
    let list = client.call("tether_actions", "{}").await;
    let actions = list.result()["structuredContent"]["actions"].as_array().unwrap();
    assert_eq!(actions.iter().map(|action| &action["actionId"]).collect::<Vec<_>>(), [&id]);
}

#[tokio::test]
async fn an_answer_does_not_wait_for_a_request_beside_it_that_waits_for_it() {
    let server = Server::deciding_by_forms().await;
    let token = server.token("acme", "bot", &[Role::Agent]).await;
    let client = Client::able(&server, token, "2025-03-26", forms()).await;
    let yes = r#"{"action":"accept","content":{"decision":"confirm"}}"#;
    for (number, (calls_off, says)) in [(false, "Done."), (true, "")].into_iter().enumerate() {
        let call = 104 + number as u64;
        let mut stream = client.started(call, "write", "{}").await;
        let (id, _) = asked(&mut stream).await;
        let beside = match calls_off {
            false => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{yes}}}"#),
            true => {
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{call}}}}}"#
                )
            }
        };
        let body = format!(r#"[{{"jsonrpc":"2.0","id":{call},"method":"ping"}},{beside}]"#);
        let both = async { tokio::join!(client.post(&body, &[]), rest(&mut stream)) };
        let (pinged, told) =
            tokio::time::timeout(Duration::from_secs(10), both).await.expect("neither waits");
        assert!(told.contains(says), "{told}");
        assert_eq!(pinged.last()["id"], call, "{}", pinged.text);
    }
}
