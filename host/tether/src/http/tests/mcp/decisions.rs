//! How a person is asked through a client: tasks, pages and forms.

use serde_json::{Value, json};
use tether_core::identity::Role;
use tokio::net::TcpStream;

use super::super::server::Server;
use super::client::{Client, Got, STATELESS, rest, until};

pub(super) const SESSIONS: &str = "2025-11-25";

pub(super) async fn able(server: &Server, revision: &'static str, can: Value) -> Client {
    let token = server.token("acme", "bot", &[Role::Agent]).await;
    Client::able(server, token, revision, can).await
}

fn pages() -> Value {
    json!({"elicitation": {"url": {}}})
}

pub(super) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

pub(super) fn tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

async fn confirm(server: &Server, id: &str) {
    let ann = server.token("acme", "ann", &[Role::Approver]).await;
    let confirmed = server.send_as(&ann, "POST", &format!("/v1/actions/{id}/confirm"), &[], "").await;
    assert_eq!(confirmed.at("/status"), "Succeeded", "{}", confirmed.text);
}

/// How the actions stand, newest first.
async fn stand(server: &Server) -> Vec<Value> {
    let ann = server.token("acme", "ann", &[Role::Approver]).await;
    let list = server.send_as(&ann, "GET", "/v1/actions", &[], "").await;
    list.at("/actions").as_array().unwrap().iter().map(|action| action["status"].clone()).collect()
}

async fn look(client: &Client, id: &str) -> Got {
    client.ask("tasks/get", &format!(r#"{{"taskId":"{id}"}}"#)).await
}

#[tokio::test]
async fn where_there_are_tasks_a_proposal_is_one_that_ends_with_its_result() {
    let server = Server::start().await;
    let client = able(&server, STATELESS, tasks()).await;
    let begun = client.call("write", r#"{"n":9007199254740993}"#).await;
    let task = begun.result();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert!(task["statusMessage"].as_str().unwrap().starts_with("Nothing is done yet."), "{task}");
    let id = task["taskId"].as_str().unwrap().to_owned();
    assert_eq!(look(&client, &id).await.result()["status"], "working");

    // Nobody withdraws a proposal.
    let off = client.ask("tasks/cancel", &format!(r#"{{"taskId":"{id}"}}"#)).await;
    assert_eq!(off.result()["resultType"], "complete", "{}", off.text);
    assert_eq!(stand(&server).await, ["Pending"]);

    confirm(&server, &id).await;
    let done = look(&client, &id).await;
    let task = done.result();
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(false)), "{task}");
    assert!(task["result"]["content"][0]["text"].as_str().unwrap().starts_with("Done."), "{task}");
    assert!(done.text.contains(r#""result":{"n":9007199254740993}"#), "to the letter: {}", done.text);
    // The same proposal again gives its end, and no other task.
    assert!(task["lastUpdatedAt"].as_str() >= task["createdAt"].as_str());
}

#[tokio::test]
async fn a_task_that_a_person_declined_is_over_and_an_error() {
    let server = Server::start().await;
    let client = able(&server, STATELESS, tasks()).await;
    let id = client.call("write", "{}").await.result()["taskId"].as_str().unwrap().to_owned();
    let ann = server.token("acme", "ann", &[Role::Approver]).await;
    let path = format!("/v1/actions/{id}/decline");
    assert_eq!(server.send_as(&ann, "POST", &path, &[], r#"{"reason":"no"}"#).await.status, 200);
    let looked = look(&client, &id).await;
    assert_eq!(looked.result()["status"], "completed");
    assert_eq!(looked.result()["result"]["isError"], true);
    let said = looked.result()["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("A person said no: \"no\"."), "{said}");
}

#[tokio::test]
async fn a_task_is_its_proposers_and_takes_the_capability() {
    let server = Server::start().await;
    let client = able(&server, STATELESS, tasks()).await;
    let id = client.call("write", "{}").await.result()["taskId"].as_str().unwrap().to_owned();
    let other = server.token("acme", "other", &[Role::Agent]).await;
    let other = Client::able(&server, other, STATELESS, tasks()).await;
    let unable = able(&server, STATELESS, json!({})).await;
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = |id: &str| match method {
            "tasks/update" => format!(r#"{{"taskId":"{id}","inputResponses":{{}}}}"#),
            _ => format!(r#"{{"taskId":"{id}"}}"#),
        };
        other.ask(method, &params(&id)).await.is_error(200, -32602, "no such task");
        client.ask(method, &params(&"0".repeat(32))).await.is_error(200, -32602, "no such task");
        client.ask(method, &params("x")).await.is_error(200, -32602, "no such task");
        unable.ask(method, &params(&id)).await.is_error(400, -32021, "");
        client.ask(method, &params(&id)).await.result();
    }
}

#[tokio::test]
async fn a_task_has_a_page_to_open_until_the_client_has_opened_it() {
    let server = Server::start().await;
    let mut can = tasks();
    can["elicitation"] = json!({"url": {}});
    let client = able(&server, STATELESS, can).await;
    let begun = client.call_with("write", "{}", "k").await;
    assert_eq!(begun.result()["status"], "input_required", "{}", begun.text);
    let id = begun.result()["taskId"].as_str().unwrap().to_owned();
    let looked = look(&client, &id).await;
    let asked = &looked.result()["inputRequests"]["decide"];
    assert_eq!(asked["method"], "elicitation/create", "{}", looked.text);
    assert_eq!(asked["params"]["mode"], "url");
    assert_eq!(asked["params"]["url"], format!("http://127.0.0.1:0/inbox/actions/{id}"));
    let accepted = r#"{"decide":{"action":"accept","content":{"decision":"confirm"}}}"#;
    let params = format!(r#"{{"taskId":"{id}","inputResponses":{accepted}}}"#);
    client.ask("tasks/update", &params).await.result();
    assert_eq!(look(&client, &id).await.result()["status"], "working");
    let again = client.call_with("write", "{}", "k").await;
    assert_eq!(again.result()["status"], "working", "nobody is asked twice: {}", again.text);
    assert_eq!(again.result()["taskId"], id);
    assert_eq!(stand(&server).await, ["Pending"], "what a client says of a page decides nothing");
}

#[tokio::test]
async fn without_tasks_a_page_is_asked_for_once_and_the_call_repeated_is_no_other_proposal() {
    let server = Server::start().await;
    let client = able(&server, STATELESS, pages()).await;
    let asked = client.call_with("write", r#"{"n":1}"#, "k").await;
    assert_eq!(asked.result()["resultType"], "input_required", "{}", asked.text);
    assert_eq!(asked.result()["inputRequests"]["decide"]["params"]["mode"], "url");
    let state = asked.result()["requestState"].as_str().unwrap().to_owned();
    let again = |state: &str, answer: &str| {
        format!(
            r#"{{"name":"write","arguments":{{"n":1}},"requestState":"{state}","inputResponses":{{"decide":{answer}}}}}"#
        )
    };
    for answer in [
        r#"{"action":"accept"}"#,
        r#"{"action":"decline"}"#,
        r#"{"action":"accept","content":{"decision":"confirm"}}"#,
    ] {
        let told = client.ask("tools/call", &again(&state, answer)).await;
        assert!(told.said().starts_with("Nothing is done yet."), "{}", told.text);
    }
    // The same key, without the state: nobody is asked twice.
    let told = client.call_with("write", r#"{"n":1}"#, "k").await;
    assert!(told.said().starts_with("Nothing is done yet."), "{}", told.text);
    assert_eq!(stand(&server).await, ["Pending"], "one proposal");
}

#[tokio::test]
async fn a_state_that_is_made_up_or_somebody_elses_is_none() {
    let server = Server::deciding_by_forms().await;
    let client = able(&server, STATELESS, pages()).await;
    let state =
        client.call("write", r#"{"n":1}"#).await.result()["requestState"].as_str().unwrap().to_owned();
    let id = state.split(':').nth(1).unwrap().to_owned();
    let other = server.token("acme", "other", &[Role::Agent]).await;
    let other = Client::able(&server, other, STATELESS, forms()).await;
    let call = |name: &str, arguments: &str, state: &str| {
        let answers = r#"{"decision":{"action":"accept","content":{"decision":"confirm"}}}"#;
        format!(
            r#"{{"name":"{name}","arguments":{arguments},"requestState":"{state}","inputResponses":{answers}}}"#
        )
    };
    let form = format!("form:{id}:0");
    for (by, params) in [
        (&other, call("write", r#"{"n":1}"#, &state)),
        (&other, call("write", r#"{"n":1}"#, &form)),
        (&client, call("write", r#"{"n":2}"#, &form)),
        (&client, call("echo", r#"{"n":1}"#, &form)),
        (&client, call("write", r#"{"n":1}"#, &form)),
        (&client, call("write", r#"{"n":1}"#, "form:x:0")),
        (&client, call("write", r#"{"n":1}"#, "")),
        (&client, call("write", r#"{"n":1}"#, &format!("form:{}:0", "0".repeat(32)))),
    ] {
        by.ask("tools/call", &params).await.is_error(200, -32602, "`requestState`");
    }
    assert_eq!(stand(&server).await, ["Pending"]);
}

#[tokio::test]
async fn a_form_decides_where_the_rule_says_so_and_once() {
    let server = Server::deciding_by_forms().await;
    let client = able(&server, STATELESS, forms()).await;
    let asked = client.call("write", r#"{"n":9007199254740993}"#).await;
    let form = &asked.result()["inputRequests"]["decision"]["params"];
    assert_eq!(form["mode"], "form", "{}", asked.text);
    let message = form["message"].as_str().unwrap();
    let expected = "Decide about write for \"acme\".\nIt would: \"Write it\"\n\
                    Arguments: {\"n\":9007199254740993}\nIf you confirm, it runs once, now.";
    assert_eq!(message, expected);
    assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["confirm", "decline"]));
    let state = asked.result()["requestState"].as_str().unwrap();
    let answers = r#"{"decision":{"action":"accept","content":{"decision":"confirm"}}}"#;
    let again = format!(
        r#"{{"name":"write","arguments":{{"n":9007199254740993}},"requestState":"{state}","inputResponses":{answers}}}"#
    );
    let done = client.ask("tools/call", &again).await;
    assert!(done.said().starts_with("Done."), "{}", done.text);
    assert_eq!(done.result()["structuredContent"]["status"], "Succeeded");
    assert!(done.text.contains(r#""result":{"n":9007199254740993}"#), "{}", done.text);
    let repeated = client.ask("tools/call", &again).await;
    assert_eq!(repeated.result()["structuredContent"]["status"], "Replayed");
    assert_eq!(stand(&server).await, ["Succeeded"]);
}

#[tokio::test]
async fn a_form_that_is_made_up_decides_nothing_without_the_rule() {
    let server = Server::start().await;
    let client = able(&server, STATELESS, forms()).await;
    let proposed = client.call("write", r#"{"n":1}"#).await;
    assert!(proposed.said().starts_with("Nothing is done yet."), "no form is shown: {}", proposed.text);
    let id = proposed.result()["structuredContent"]["actionId"].as_str().unwrap();
    for decision in ["confirm", "decline"] {
        let forged = format!(
            r#"{{"name":"write","arguments":{{"n":1}},"requestState":"form:{id}:0","inputResponses":{{"decision":{{"action":"accept","content":{{"decision":"{decision}"}}}}}}}}"#
        );
        client.ask("tools/call", &forged).await.is_error(200, -32602, "`requestState`");
    }
    assert_eq!(stand(&server).await, ["Pending"]);
}

/// The id of what a session's client is asked in this stream.
pub(super) async fn asked(stream: &mut TcpStream) -> (Value, Value) {
    let text = until(stream, "elicitation/create").await;
    let line = text.lines().find(|line| line.contains("elicitation/create")).unwrap();
    let message: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
    (message["id"].clone(), message["params"].clone())
}

pub(super) async fn answer(client: &Client, id: &Value, result: &str) {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    assert_eq!(client.post(&body, &[]).await.status, 202);
}

#[tokio::test]
async fn in_a_session_the_page_comes_in_the_stream_of_the_call_and_decides_nothing() {
    let server = Server::start().await;
    let client = able(&server, SESSIONS, pages()).await;
    for result in [r#"{"action":"accept"}"#, r#"{"action":"cancel"}"#, ""] {
        let mut stream = client.started(client.fresh_id(), "write", "{}").await;
        let (id, params) = asked(&mut stream).await;
        assert_eq!(params["mode"], "url", "{params}");
        assert!(params["url"].as_str().unwrap().contains("/inbox/actions/"), "{params}");
        if !result.is_empty() {
            answer(&client, &id, result).await;
        }
        // Without an answer as well: nobody waits for a person here.
        assert!(rest(&mut stream).await.contains("Nothing is done yet."));
    }
    assert_eq!(stand(&server).await, ["Pending", "Pending", "Pending"]);
}

#[tokio::test]
async fn in_a_session_an_answer_has_the_id_that_was_asked_under_in_that_session() {
    let server = Server::deciding_by_forms().await;
    let (client, other) = (able(&server, SESSIONS, forms()).await, able(&server, SESSIONS, forms()).await);
    let mut stream = client.started(client.fresh_id(), "write", "{}").await;
    let mut others = other.started(other.fresh_id(), "write", "{}").await;
    let ((id, _), (others_id, _)) = (asked(&mut stream).await, asked(&mut others).await);
    assert_ne!(id, others_id);
    let yes = r#"{"action":"accept","content":{"decision":"confirm"}}"#;
    for id in [others_id, json!(0), json!("0"), json!(format!("{}0", id.as_str().unwrap()))] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{yes}}}"#);
        client.post(&body, &[]).await.is_error(400, -32600, "nothing was asked");
    }
    assert_eq!(stand(&server).await, ["Pending", "Pending"]);
    answer(&client, &id, yes).await;
    assert!(rest(&mut stream).await.contains("Done."));
}

#[tokio::test]
async fn in_a_session_a_form_decides_where_the_rule_says_so() {
    let server = Server::deciding_by_forms().await;
    for (number, (can, result, says)) in [
        (forms(), r#"{"action":"accept","content":{"decision":"confirm"}}"#, "Done."),
        (
            json!({"elicitation": {}}),
            r#"{"action":"accept","content":{"decision":"decline"}}"#,
            "A person said no.",
        ),
        (forms(), r#"{"action":"decline"}"#, "Nothing is done yet."),
        (forms(), r#"{"action":"accept","content":{"decision":"yes"}}"#, "Nothing is done yet."),
    ]
    .into_iter()
    .enumerate()
    {
        let client = able(&server, SESSIONS, can).await;
        let mut stream = client.started(client.fresh_id(), "write", &format!(r#"{{"n":{number}}}"#)).await;
        let (id, params) = asked(&mut stream).await;
        assert_eq!(params["mode"], "form", "{params}");
        answer(&client, &id, result).await;
        let told = rest(&mut stream).await;
        assert!(told.contains(says), "{says}: {told}");
    }
    assert_eq!(stand(&server).await, ["Pending", "Pending", "Declined", "Succeeded"]);
}
