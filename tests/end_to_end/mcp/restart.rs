//! The host dies while an agent proposes, and is started again: the proposal that is sent
//! again, by whomever, is one action, and after its confirmation one effect.

use std::io::Read;

use serde_json::json;

use crate::mcp::BOTH;
use crate::mcp::client::{Client, STATELESS};
use crate::support::{Server, Setup};

/// Around a proposal: nothing is written, it is not committed, it is durable and not told.
const POINTS: [&str; 3] = ["before-propose", "proposal-written", "proposed"];

const KEY: &str = r#""tether/idempotencyKey":"order-7""#;

/// Sent again through a new session, by a second client of the other generation, and over
/// HTTP, it is one action; it has no effect before its confirmation, and then one.
#[track_caller]
fn check_it_is_one(server: &Server, revision: &'static str, arguments: &str) {
    let again = Client::new(server, revision);
    let id = again.call_with("order-7", "probe_write", arguments).action();
    let second = Client::new(server, BOTH[usize::from(revision == BOTH[0])]);
    assert_eq!(second.call_with("order-7", "probe_write", arguments).action(), id);
    assert_eq!(server.api.propose_with("order-7", "probe_write", arguments).str("actionId"), id);
    let other = again.call_with("order-7", "probe_write", r#"{"note":"another"}"#);
    assert_eq!(other.code(), "IDEMPOTENCY_KEY_REUSED");
    let list = server.api.get("/v1/actions");
    assert_eq!(list.body["actions"].as_array().map(Vec::len), Some(1), "{}", list.text);
    assert!(server.effects().is_empty(), "nobody said yes yet");
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let told = again.call_with("order-7", "probe_write", arguments);
    assert!(told.said().starts_with("Done."), "{}", told.text);
    assert_eq!(server.effects().len(), 1);
}

#[test]
fn a_proposal_whose_host_died_around_it_is_sent_again_and_is_one() {
    let arguments = r#"{"note":"once"}"#;
    for point in POINTS {
        for revision in BOTH {
            let mut server = Setup::of(&["probe"]).fault(point).start();
            let client = Client::new(&server, revision);
            let unanswered = client.start(client.fresh_id(), "probe_write", arguments, KEY);
            server.die_at_the_fault();
            drop(unanswered);
            check_it_is_one(&server, revision, arguments);
        }
    }
}

#[test]
fn a_proposal_whose_host_died_in_the_middle_of_the_answer_is_sent_again_and_is_one() {
    let arguments = r#"{"note":"once"}"#;
    for revision in BOTH {
        for bytes in [1, 500] {
            let mut server = Setup::of(&["probe"]).start();
            let client = Client::new(&server, revision);
            let mut answer = client.start(client.fresh_id(), "probe_write", arguments, KEY);
            answer.read_exact(&mut vec![0; bytes]).expect("there are so many");
            server.restart();
            drop(answer);
            check_it_is_one(&server, revision, arguments);
        }
    }
}

#[test]
fn an_id_of_a_session_is_one_proposal_and_of_another_session_another() {
    let mut server = Setup::of(&["probe"]).start();
    let client = Client::new(&server, BOTH[0]);
    let id = client.call_as(7, "probe_write", r#"{"note":"a"}"#, "").action();
    assert_eq!(client.call_as(7, "probe_write", r#"{ "note":"\u0061" }"#, "").action(), id);
    for (tool, arguments) in [("probe_write", r#"{"note":"b"}"#), ("probe_nothing", "{}")] {
        assert_eq!(client.call_as(7, tool, arguments, "").code(), "IDEMPOTENCY_KEY_REUSED");
    }
    assert_ne!(client.call_as(8, "probe_write", r#"{"note":"a"}"#, "").action(), id);
    // Its session is over with the process, and its ids with it.
    server.restart();
    let anew = Client::new(&server, BOTH[0]);
    assert_ne!(anew.call_as(7, "probe_write", r#"{"note":"b"}"#, "").action(), id);
    assert_eq!(server.api.get("/v1/actions").body["actions"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_task_and_a_page_outlive_the_host() {
    let mut server = Setup::of(&["probe"]).start();
    let tasks = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let pages = r#"{"elicitation":{"url":{}}}"#;
    let able = |server: &Server, can| Client::able(server, &server.api.token, STATELESS, can);
    let arguments = r#"{"note":"x"}"#;
    let begun = able(&server, tasks).call("probe_write", arguments);
    let task = begun.result()["taskId"].as_str().expect("a task").to_owned();
    let asked = able(&server, pages).call("probe_write", arguments);
    let state = asked.result()["requestState"].as_str().expect("a page to open").to_owned();
    server.restart();

    let look = || {
        let members = format!(r#""taskId":"{task}""#);
        able(&server, tasks).ask_of("tasks/get", Some(&task), &members).result().clone()
    };
    assert_eq!(look()["status"], "working");
    server.api.confirm(&task, "{}").check("200 Succeeded");
    let done = look();
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(false)));

    let members = format!(
        r#""name":"probe_write","arguments":{arguments},"requestState":"{state}","inputResponses":{{"decide":{{"action":"accept"}}}}"#
    );
    let told = able(&server, pages).ask_of("tools/call", Some("probe_write"), &members);
    assert!(told.said().starts_with("Nothing is done yet."), "{}", told.text);
    assert!(told.text.contains(state.trim_start_matches("page:")), "the same action: {}", told.text);
    assert_eq!(server.api.get("/v1/actions").body["actions"].as_array().map(Vec::len), Some(2));
    assert_eq!(server.effects().len(), 1);
}
