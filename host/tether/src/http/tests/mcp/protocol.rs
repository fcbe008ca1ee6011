//! What every server of the protocol does.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::super::server::Server;
use super::client::{Client, STATELESS, comes_to};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

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
async fn a_client_of_an_older_revision_is_offered_the_newest_with_sessions() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    for asked in ["2024-11-05", "1999-01-01", "2031-01-01", "x"] {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        let begun = client.post(&body, &["MCP-Protocol-Version: -"]).await;
        assert_eq!(begun.result()["protocolVersion"], "2025-11-25", "{asked}: {}", begun.text);
    }
    let discovered = client.ask("server/discover", "{}").await;
    let spoken = json!(["2025-03-26", "2025-06-18", "2025-11-25", STATELESS]);
    assert_eq!(discovered.result()["supportedVersions"], spoken);
}

#[tokio::test]
async fn a_handshake_that_does_not_fit_says_what_of_it() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let no_session = ["MCP-Protocol-Version: -", "Mcp-Method: -"];
    for params in ["{}", r#"{"protocolVersion":5}"#, r#"{"protocolVersion":"2025-11-25","capabilities":[]}"#]
    {
        let body = format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{params}}}"#);
        let begun = client.post(&body, &no_session).await;
        begun.is_error(200, -32602, "do not fit `initialize`");
        assert_eq!((begun.header("mcp-session-id"), &begun.last()["id"]), (None, &json!("i")));
    }
}

#[tokio::test]
async fn the_extension_of_the_revision_without_sessions_is_not_in_those_with_them() {
    let server = Server::start().await;
    let able = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let token = server.token("acme", "bot", &[tether_core::identity::Role::Agent]).await;
    for revision in SESSIONS {
        let client = Client::able(&server, token.clone(), revision, able.clone()).await;
        assert_eq!(client.begun["capabilities"], json!({"tools": {"listChanged": true}}));
        let proposed = client.call("write", "{}").await;
        let id = proposed.result()["structuredContent"]["actionId"].as_str().unwrap();
        for method in ["tasks/get", "tasks/cancel", "tasks/list"] {
            client.ask(method, &format!(r#"{{"taskId":"{id}"}}"#)).await.is_error(200, -32601, method);
        }
    }
    let client = Client::able(&server, token, STATELESS, able).await;
    let discovered = client.ask("server/discover", "{}").await;
    let extensions = &discovered.result()["capabilities"]["extensions"];
    assert!(extensions["io.modelcontextprotocol/tasks"].is_object(), "{}", discovered.text);
}

#[tokio::test]
async fn an_error_names_its_request_and_does_not_say_again_all_that_was_sent() {
    let server = Server::start().await;
    for revision in [SESSIONS[2], STATELESS] {
        let client = Client::new(&server, revision).await;
        for (body, code) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1,"a":2}}"#, -32600),
            (r#"{"id":7,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":5}}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":[]}}"#, -32602),
        ] {
            let answer = client.post(body, &[]).await;
            assert_eq!(
                (answer.last()["error"]["code"].as_i64(), &answer.last()["id"]),
                (Some(code), &json!(7))
            );
        }
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":5}}"#;
        client.post(note, &[]).await.is_error(400, -32602, "`_meta`");
        let long = "z".repeat(500_000);
        let body = client.request(1, &long, "{}");
        let unknown = client.post(&body, &["Mcp-Method: x"]).await;
        assert!(unknown.text.len() < 2_000 && unknown.last()["error"].is_object(), "{}", unknown.text.len());
        let meta = format!(r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{long}"}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{meta}}}"#);
        let unknown = client.post(&body, &[]).await;
        assert!(unknown.text.len() < 2_000 && unknown.last()["error"].is_object(), "{}", unknown.text.len());
    }
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
        // Neither a text of ours, nor a text, nor a name.
        for cursor in ["\"?\"", "5", "[]", "\"\"", "\"AA\""] {
            let list = client.ask("tools/list", &format!(r#"{{"cursor":{cursor}}}"#)).await;
            list.is_error(200, -32602, "`cursor`");
        }
        let end = client.ask("tools/list", r#"{"cursor":"d3JpdGU"}"#).await;
        assert_eq!(end.result()["tools"], json!([]), "after the last: {}", end.text);
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_not_to_be() {
    let server = Server::start().await;
    let session = Client::new(&server, SESSIONS[2]).await;
    let stateless = Client::new(&server, STATELESS).await;
    for method in ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "no/such", ""]
    {
        let answer = session.ask(method, "{}").await;
        let says = format!("there is no method \"{method}\"");
        answer.is_error(200, -32601, &says);
        stateless.ask(method, "{}").await.is_error(404, -32601, &says);
    }
    // Each generation has methods that the other has not.
    stateless.ask("ping", "{}").await.is_error(404, -32601, "there is no method \"ping\"");
    let says = "there is no method \"subscriptions/listen\"";
    session.ask("subscriptions/listen", r#"{"notifications":{}}"#).await.is_error(200, -32601, says);
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
        client.post(PING, &["Content-Type: text/plain"]).await.is_error(415, -32600, "application/json");
        client.post(PING, &["Accept: application/json"]).await.is_error(406, -32600, "text/event-stream");
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
async fn a_session_speaks_what_was_agreed_upon_and_begins_once() {
    let server = Server::start().await;
    for revision in SESSIONS {
        let client = Client::new(&server, revision).await;
        for other in SESSIONS.into_iter().chain([STATELESS, "2024-11-05", "x"]).filter(|it| *it != revision) {
            let header = format!("MCP-Protocol-Version: {other}");
            let says = format!("this session speaks {revision}");
            client.post(PING, &[&header]).await.is_error(400, -32600, &says);
            client.bare("GET", &[&header]).await.is_error(400, -32600, &says);
            client.bare("DELETE", &[&header]).await.is_error(400, -32600, &says);
        }
        client.post(PING, &["MCP-Protocol-Version: -"]).await.result();
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.ask("initialize", &params.to_string()).await.is_error(400, -32600, "has begun");
        client.post(PING, &[]).await.result();
    }
}

#[tokio::test]
async fn a_header_that_is_there_twice_is_refused() {
    let server = Server::start().await;
    let client = Client::new(&server, SESSIONS[2]).await;
    let own = format!("Mcp-Session-Id: {}", client.session.as_ref().unwrap());
    for twice in [[own.as_str(), "mcp-session-id: b"], [own.as_str(), own.as_str()]] {
        client.post(PING, &twice).await.is_error(400, -32600, "two `mcp-session-id` headers");
    }
    let twice = ["MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2025-06-18"];
    let refused = client.post(PING, &twice).await;
    refused.is_error(400, -32600, "two `mcp-protocol-version` headers");
    assert_eq!(refused.last()["id"], 1);
}

#[tokio::test]
async fn a_body_comes_as_it_is_and_an_answer_of_any_type_is_ours() {
    let server = Server::start().await;
    for revision in [SESSIONS[2], STATELESS] {
        let client = Client::new(&server, revision).await;
        client.post(PING, &["Content-Encoding: gzip"]).await.is_error(
            415,
            -32600,
            "without a `Content-Encoding`",
        );
        for header in
            ["Content-Encoding: identity", "Accept: */*", "Accept: text/html, */*;q=0.8", "Accept: -"]
        {
            let list = client.ask_as(client.fresh_id(), "tools/list", "{}", &[header]).await;
            assert!(list.result()["tools"].is_array(), "{header}: {}", list.text);
        }
    }
}

#[tokio::test]
async fn a_session_makes_room_unless_it_is_at_work() {
    let server = Server::start().await;
    let token = server.token("acme", "bot", &[tether_core::identity::Role::Agent]).await;
    let revision = SESSIONS[2];
    let first = Client::with(&server, token.clone(), revision).await;
    let second = Client::with(&server, token.clone(), revision).await;
    let _stream = first.started(77, "wait", "{}").await;
    comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), 1).await;
    second.ask("ping", "{}").await.result();
    for _ in 2..=256 {
        Client::with(&server, token.clone(), revision).await;
    }
    first.ask("ping", "{}").await.result();
    second.ask("ping", "{}").await.is_error(404, -32001, "no such session");
    assert_eq!(server.handlers.cancelled.load(Ordering::SeqCst), 0);
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
