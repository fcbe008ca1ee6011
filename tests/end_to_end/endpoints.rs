//! Remote endpoints: a real Express application that keeps its own record, and
//! knows nothing of Tether but the page on the tool endpoint.

use std::path::{Path, PathBuf};

use crate::support::{Folder, NodeProject, NodeServer, Server, Setup, eventually, open_read_only};

/// The application, with a database of its own, and a gateway in front of it.
struct World {
    gateway: Server,
    database: PathBuf,
    _express: NodeServer,
    _folder: Folder,
}

impl World {
    /// None where Node.js is missing.
    fn start() -> Option<Self> {
        let project = NodeProject::install("endpoints/express")?;
        let folder = Folder::new();
        let database = folder.path().join("notes.db");
        let express = project.serve("server.js", &[&database]);
        let tools = project.path("tools.json");
        let config = format!(
            "[tool_transport]\ntimeout_seconds = 2\n\
             [[endpoints]]\nurl = \"http://127.0.0.1:{}/tools\"\ntools = {tools:?}\n",
            express.port
        );
        let gateway = Setup::of(&[]).config("tether.toml", &config).start();
        Some(Self { gateway, database, _express: express, _folder: folder })
    }

    /// Notes, counted where they land.
    fn notes(&self) -> i64 {
        count(&self.database, "SELECT count(*) FROM notes")
    }

    /// Requests for a tool, as the endpoint saw them: each must carry its key.
    fn requests(&self, tool: &str) -> i64 {
        let bare = "SELECT count(*) FROM requests WHERE key IS NULL OR key IS NOT request_id";
        assert_eq!(count(&self.database, bare), 0, "every request carries its key");
        count(&self.database, &format!("SELECT count(*) FROM requests WHERE tool = '{tool}'"))
    }
}

fn count(database: &Path, sql: &str) -> i64 {
    open_read_only(database).query_row(sql, [], |row| row.get(0)).expect("it can be counted")
}

#[test]
fn a_read_is_asked_again_with_the_same_key() {
    let Some(world) = World::start() else { return };
    let answer = world.gateway.api.call("flaky_count", "{}");
    assert_eq!(answer.check("200 Succeeded").body["attempts"], 3);
    assert_eq!(answer.raw("result"), r#"{"notes":0}"#);
    assert_eq!(world.requests("flaky_count"), 3);
    let keys = count(&world.database, "SELECT count(DISTINCT key) FROM requests");
    assert_eq!(keys, 1, "one call, one key");
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
    assert_eq!(action.check("200 Pending").str("effect"), "Unknown");
    assert_eq!((world.requests("add_note"), world.notes()), (1, 1), "nothing is sent again by itself");
    world.gateway.api.confirm(&id, r#"{"attemptsUsed":1}"#).check("200 Succeeded");
    assert_eq!(world.notes(), 1);
}
