//! Remote endpoints: a real Express application that keeps its own record, and
//! knows nothing of Tether but the page on the tool endpoint.

use serde_json::Value;

use crate::support::{Api, Folder, NodeProject, NodeServer, Server, Setup, eventually};

/// The application, with a database of its own, and a gateway in front of it.
struct World {
    gateway: Server,
    express: Api,
    _express: NodeServer,
    _folder: Folder,
}

impl World {
    /// None where Node.js is missing.
    fn start() -> Option<Self> {
        let project = NodeProject::install("endpoints/express")?;
        let folder = Folder::new();
        let server = project.serve("server.js", &[&folder.path().join("notes.db")]);
        let tools = project.path("tools.json");
        let config = format!(
            "[tool_transport]\ntimeout_seconds = 2\n\
             [[endpoints]]\nurl = \"http://127.0.0.1:{}/tools\"\ntools = {tools:?}\n",
            server.port
        );
        let gateway = Setup::of(&[]).config("tether.toml", &config).start();
        let express = Api { address: ([127, 0, 0, 1], server.port).into(), token: String::new() };
        Some(Self { gateway, express, _express: server, _folder: folder })
    }

    fn seen(&self) -> Value {
        self.express.get("/seen").body
    }

    /// Notes, counted where they land.
    fn notes(&self) -> u64 {
        self.seen()["notes"].as_u64().expect("a number")
    }

    /// Requests for a tool, as the endpoint saw them: each must carry its key.
    fn requests(&self, tool: &str) -> usize {
        let seen = self.seen();
        let requests = seen["requests"].as_array().expect("a list");
        let keyed = |request: &&Value| request["key"].is_string() && request["key"] == request["request_id"];
        assert!(
            requests.iter().all(|request| keyed(&request)),
            "every request carries its key: {requests:?}"
        );
        requests.iter().filter(|request| request["tool"] == tool).count()
    }
}

#[test]
fn a_read_is_asked_again_with_the_same_key() {
    let Some(world) = World::start() else { return };
    let answer = world.gateway.api.call("flaky_count", "{}");
    assert_eq!(answer.check("200 Succeeded").body["attempts"], 3);
    assert_eq!(answer.raw("result"), r#"{"notes":0}"#);
    assert_eq!(world.requests("flaky_count"), 3);
    assert_eq!(world.seen()["keys"], 1, "one call, one key");
}

#[test]
fn a_write_is_sent_once_for_each_yes_and_recorded_by_the_endpoint() {
    let Some(world) = World::start() else { return };
    let api = &world.gateway.api;
    let id = api.propose("add_note", r#"{"text":"hello"}"#);
    assert_eq!(world.requests("add_note"), 0, "nothing is sent before the yes");
    let first = api.confirm(&id, "{}");
    assert_eq!(first.check("200 Succeeded").raw("result"), r#"{"id":1}"#);
    assert_eq!(first.str("effect"), "Applied");
    assert_eq!(api.confirm(&id, "{}").check("200 Replayed").raw("result"), first.raw("result"));
    assert_eq!((world.requests("add_note"), world.notes()), (1, 1));
}

/// The answer to a write is lost after the endpoint committed.
#[track_caller]
fn check_lost_answer(world: &World, text: &str) {
    let api = &world.gateway.api;
    let before = world.notes();
    let id = api.propose("add_note", &format!(r#"{{"text":"{text}"}}"#));
    let lost = api.confirm(&id, "{}");
    lost.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(lost.str("effect"), "Unknown", "{text}");
    let sent = &lost.body["ledger"][0];
    assert_eq!((&sent["method"], &sent["path"]), (&"POST".into(), &"/tools".into()), "what to check: {sent}");
    assert_eq!(world.notes(), before + 1, "{text}: it was done");

    // The person has looked, and says yes again: the endpoint knows the key.
    let again = api.confirm(&id, r#"{"attemptsUsed":1}"#);
    again.check("200 Succeeded");
    assert_eq!(world.notes(), before + 1, "{text}: it was done once");
}

#[test]
fn an_answer_that_is_lost_leaves_the_effect_unknown_and_is_not_asked_for_again() {
    let Some(world) = World::start() else { return };
    check_lost_answer(&world, "cut");
    assert_eq!(world.requests("add_note"), 2);
    check_lost_answer(&world, "slow");
    assert_eq!(world.requests("add_note"), 4);
}

#[test]
fn a_refusal_of_the_endpoint_is_final_and_carries_its_code() {
    let Some(world) = World::start() else { return };
    let api = &world.gateway.api;
    let id = api.propose("add_note", r#"{"text":""}"#);
    let failed = api.confirm(&id, "{}");
    assert_eq!(failed.check("200 Failed EXECUTION_FAILED").str("handlerCode"), "EMPTY_NOTE");
    api.confirm(&id, "{}").check("200 Failed EXECUTION_FAILED");
    assert_eq!((world.requests("add_note"), world.notes()), (1, 0));
}

#[test]
fn a_gateway_that_dies_in_the_middle_says_that_it_cannot_know() {
    let Some(mut world) = World::start() else { return };
    let id = world.gateway.api.propose("add_note", r#"{"text":"slow"}"#);
    let lost = world.gateway.api.begin_confirm(&id, "{}");
    eventually("the endpoint has committed", || (world.notes() == 1).then_some(()));
    world.gateway.restart();
    drop(lost);
    let action = world.gateway.api.action(&id);
    assert_eq!(action.check("200 Pending EXECUTION_FAILED_RETRYABLE").str("effect"), "Unknown");
    assert_eq!((world.requests("add_note"), world.notes()), (1, 1), "nothing is sent again by itself");
    world.gateway.api.confirm(&id, r#"{"attemptsUsed":1}"#).check("200 Succeeded");
    assert_eq!(world.notes(), 1);
}
