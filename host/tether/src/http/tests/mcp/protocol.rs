//! What every server of the protocol does.

use serde_json::json;

use super::super::server::Server;
use super::client::{Client, STATELESS};

const SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn a_session_begins_with_who_we_are_and_what_a_model_must_know() {
    let server = Server::start().await;
    for revision in SESSIONS {
        let client = Client::new(&server, revision).await;
        assert!(client.session.is_some());
        assert_eq!(client.ask("ping", "{}").await.result(), &json!({}));
    }
    let client = Client::new(&server, STATELESS).await;
    let discovered = client.ask("server/discover", "{}").await;
    let result = discovered.result();
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true, "{result}");
    assert!(result["instructions"].as_str().unwrap().contains("a person decides"), "{result}");
    assert!(result["supportedVersions"].as_array().unwrap().contains(&STATELESS.into()), "{result}");
}

#[tokio::test]
async fn there_is_no_handshake_in_the_revision_without_sessions() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let params = json!({"protocolVersion": STATELESS, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    client.post(&body, &["Mcp-Method: initialize"]).await.is_error(404, -32601, "initialize");
    client.ask("initialize", "{}").await.is_error(404, -32601, "initialize");
    // Who asks for it without naming the revision in a header gets the newest with sessions.
    let begun = client.post(&body, &["MCP-Protocol-Version: -", "Mcp-Method: -"]).await;
    assert_eq!(begun.result()["protocolVersion"], "2025-11-25", "{begun:?}");
}

#[tokio::test]
async fn the_tools_are_listed_with_the_hosts_own() {
    let server = Server::start().await;
    for revision in SESSIONS.into_iter().chain([STATELESS]) {
        let client = Client::new(&server, revision).await;
        let list = client.ask("tools/list", "{}").await;
        let tools = list.result()["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["echo", "refuse", "tether_actions", "wait", "write"]);
        assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
        assert_eq!(tools[4]["annotations"]["readOnlyHint"], false);
        assert_eq!(tools[4]["outputSchema"]["type"], "object");
        let private = list.result()["cacheScope"] == "private";
        assert_eq!(private, revision == STATELESS, "older revisions know of no caches: {}", list.text);
    }
}

#[tokio::test]
async fn a_cursor_that_is_none_is_an_error_of_the_protocol() {
    let server = Server::start().await;
    for revision in [SESSIONS[2], STATELESS] {
        let client = Client::new(&server, revision).await;
        client.ask("tools/list", r#"{"cursor":"?"}"#).await.is_error(200, -32602, "`cursor`");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_not_to_be() {
    let server = Server::start().await;
    let session = Client::new(&server, SESSIONS[2]).await;
    let stateless = Client::new(&server, STATELESS).await;
    for method in ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "no/such"] {
        let answer = session.ask(method, "{}").await;
        answer.is_error(200, -32601, "");
        stateless.ask(method, "{}").await.is_error(404, -32601, "");
    }
    session.ask("tools/call", r#"{"name":"none","arguments":{}}"#).await.is_error(200, -32602, "no tool");
    stateless.ask("tools/call", r#"{"name":"none","arguments":{}}"#).await.is_error(200, -32602, "no tool");
    session.ask("tools/call", r#"{"arguments":{}}"#).await.is_error(200, -32602, "`tools/call`");
}

#[tokio::test]
async fn what_is_no_message_is_an_error_with_its_reason() {
    let server = Server::start().await;
    for revision in [SESSIONS[2], STATELESS] {
        let client = Client::new(&server, revision).await;
        client.post("{", &[]).await.is_error(400, -32700, "not valid JSON");
        client.post("5", &[]).await.is_error(400, -32600, "JSON object");
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}"#;
        client.post(twice, &[]).await.is_error(400, -32600, "occurs twice");
        let answer = client.post(r#"{"jsonrpc":"2.0","id":"x","method":5}"#, &[]).await;
        answer.is_error(400, -32600, "`method`");
        assert_eq!(answer.last()["id"], "x");
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        client.post(ping, &["Content-Type: text/plain"]).await.is_error(415, -32600, "application/json");
        client.post(ping, &["Accept: application/json"]).await.is_error(406, -32600, "text/event-stream");
    }
}

#[tokio::test]
async fn a_session_of_somebody_else_is_none() {
    let server = Server::start().await;
    let client = Client::new(&server, SESSIONS[2]).await;
    let agent = [tether_core::identity::Role::Agent];
    for (tenant, user) in [("acme", "other"), ("globex", "bot")] {
        let mut theirs = Client::with(&server, server.token(tenant, user, &agent).await, SESSIONS[2]).await;
        theirs.session = client.session.clone();
        let stolen = theirs.ask("tools/list", "{}").await;
        stolen.is_error(404, -32001, "no such session");
        theirs.session = Some("never-was".to_owned());
        assert_eq!(theirs.ask("tools/list", "{}").await.last()["error"], stolen.last()["error"]);
        theirs.session = client.session.clone();
        theirs.bare("DELETE", &[]).await.is_error(404, -32001, "no such session");
        theirs.bare("GET", &[]).await.is_error(404, -32001, "no such session");
    }
    client.ask("tools/list", "{}").await.result();
}

#[tokio::test]
async fn a_session_that_its_client_ended_is_gone() {
    let server = Server::start().await;
    let client = Client::new(&server, SESSIONS[2]).await;
    assert_eq!(client.bare("DELETE", &[]).await.status, 204);
    client.ask("tools/list", "{}").await.is_error(404, -32001, "no such session");
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let params = r#"{"name":"echo","arguments":{}}"#;
    let answer = client.ask_as(1, "tools/call", params, &["Mcp-Name: write"]).await;
    answer.is_error(400, -32020, "");
    let answer = client.ask_as(1, "tools/call", params, &["MCP-Protocol-Version: 2025-11-25"]).await;
    answer.is_error(400, -32020, "");
}
