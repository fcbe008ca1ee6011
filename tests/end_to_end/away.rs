//! A database that is not there: what was done in it stays open until it is back,
//! and everything else is served.

use std::fs;
use std::path::PathBuf;

use crate::support::{Server, Setup, component, eventually};

/// The folder of `probe`'s database, and where it is put meanwhile.
fn folders(server: &Server) -> (PathBuf, PathBuf) {
    let here = server.database("probe").parent().expect("it is in a folder").to_owned();
    (here, server.setup.folder().path().join("away"))
}

/// A host that died after the commit of an action, and finds no database when it
/// is started again.
fn without_database() -> (Server, String) {
    let mut server = Setup::of(&["probe", "tickets"]).fault("committed").start();
    let id = server.api.propose("probe_write", r#"{"note":"away"}"#);
    let _lost = server.api.begin_confirm(&id, "{}");
    server.wait_for_the_fault();
    server.kill();
    let (here, away) = folders(&server);
    fs::rename(here, away).unwrap();
    server.restart();
    (server, id)
}

/// Puts the database back; the action turns out to have succeeded.
#[track_caller]
fn check_settled_once_it_is_back(server: &Server, id: &str) {
    let (here, away) = folders(server);
    // Whatever was made in its place is not it.
    let _ = fs::remove_dir_all(&here);
    fs::rename(away, here).unwrap();
    let settled = eventually("it is settled", || {
        let action = server.api.action(id);
        (action.str("status") != "Executing").then_some(action)
    });
    assert_eq!(settled.check("200 Succeeded").str("effect"), "Applied");
    server.api.confirm(id, "{}").check("200 Replayed");
    assert_eq!(server.effects_of(id), 1);
}

#[test]
fn a_database_that_is_gone_does_not_mean_that_nothing_was_done() {
    let (server, id) = without_database();
    server.api.get("/readyz").check("200 ok");
    server.api.action(&id).check("200 Executing");
    server.api.decline(&id, "{}").check("409 Conflict ACTION_EXECUTING");
    let other = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    server.api.confirm(&other, "{}").check("200 Succeeded");
    check_settled_once_it_is_back(&server, &id);
}

#[test]
fn an_action_is_not_claimed_while_its_database_is_away() {
    let (server, id) = without_database();
    let other = server.api.propose("probe_nothing", "{}");
    server.api.confirm(&other, "{}").check("503 UPSTREAM_UNAVAILABLE");
    assert_eq!(server.api.action(&other).check("200 Pending").body["attemptsUsed"], 0);
    check_settled_once_it_is_back(&server, &id);
    server.api.confirm(&other, "{}").check("200 Succeeded");
}

#[test]
fn an_existing_database_that_was_used_and_is_away_at_the_start_is_told_per_call() {
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite:boxes.db\"\n[[components]]\npath = {:?}\n",
        component("probe"),
        component("tickets"),
    );
    let setup = Setup::of(&[]).config("tether.toml", &config);
    let (here, away) = (setup.folder().path().join("boxes.db"), setup.folder().path().join("away.db"));
    rusqlite::Connection::open(&here).unwrap().execute_batch("VACUUM").unwrap();
    let mut server = setup.start();
    server.api.call("probe_rows", "{}").check("200 Succeeded");
    server.kill();
    fs::rename(&here, &away).unwrap();
    server.restart();
    server.log().wait_for("what needs it waits until it is back");
    server.api.call("probe_rows", "{}").check("503 UPSTREAM_UNAVAILABLE");
    server.api.call("list_tickets", "{}").check("200 Succeeded");
    fs::rename(&away, &here).unwrap();
    server.api.call("probe_rows", "{}").check("200 Succeeded");
}

#[test]
fn a_database_that_another_program_holds_costs_an_attempt_and_no_more() {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "3").start();
    let first = server.api.propose("probe_write", r#"{"note":"first"}"#);
    server.api.confirm(&first, "{}").check("200 Succeeded");
    let id = server.api.propose("probe_write", r#"{"note":"held"}"#);
    let other_program = rusqlite::Connection::open(server.database("probe")).unwrap();
    other_program.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = server.api.confirm(&id, "{}");
    assert_eq!(outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE").str("effect"), "None");
    server.api.call("probe_rows", "{}").check("200 Succeeded");
    other_program.execute_batch("ROLLBACK").unwrap();
    server.api.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(server.effects_of(&id), 1);
}
