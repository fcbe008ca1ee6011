//! The file of the actions: opening it, and what is there afterwards.

use std::sync::Arc;

use rusqlite::Connection;
use tether_core::digest::Digest;
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_core::port::actions::{ActionStore, NewAction, Proposed, Swap};
use tether_store::SqliteActions;

use crate::contract::given::*;
use crate::folder::Folder;

#[test]
fn sqlite_is_new_enough() {
    // 3.51.3 mended a rare corruption of write-ahead logs.
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

fn refusal(path: std::path::PathBuf) -> String {
    format!("{:#}", SqliteActions::open(path).err().expect("it opened"))
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_a_reason() {
    let folder = Folder::new();
    assert!(refusal(folder.path("nowhere/actions.db")).contains("there is no folder"));
    std::fs::create_dir(folder.path("dir.db")).unwrap();
    assert!(refusal(folder.path("dir.db")).contains("cannot be written"));

    std::fs::write(folder.path("text.db"), "this is no database, whatever its name says".repeat(99)).unwrap();
    assert!(refusal(folder.path("text.db")).contains("no SQLite database"));

    drop(SqliteActions::open(folder.path("new.db")).unwrap());
    Connection::open(folder.path("new.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(refusal(folder.path("new.db")).contains("newer Tether"));
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_restart() {
    let folder = Folder::new();
    let open = || -> Arc<dyn ActionStore> { Arc::new(SqliteActions::open(folder.path("a.db")).unwrap()) };
    let store = open();
    let _ = store.propose(new_action(1)).await.unwrap();
    let action = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
    assert!(matches!(store.swap(change(&action, executing(None))).await.unwrap(), Swap::Done(_)));
    drop(store);
    assert_eq!(open().executing().await.unwrap()[0].state, executing(None));
}

#[tokio::test]
async fn a_note_is_there_after_a_restart() {
    let folder = Folder::new();
    let open = || -> Arc<dyn ActionStore> { Arc::new(SqliteActions::open(folder.path("a.db")).unwrap()) };
    let store = open();
    let _ = store.propose(new_action(1)).await.unwrap();
    let tenant = "acme".parse().unwrap();
    let action = store.load(&tenant, id(1)).await.unwrap().unwrap();
    assert!(matches!(store.swap(change(&action, executing(None))).await.unwrap(), Swap::Done(_)));
    let (origin, path) = ("https://a.test".to_owned(), "/refunds".to_owned());
    let request = Request { method: "POST".parse().unwrap(), origin, path, step: None };
    let fact = Fact::Sent { request, answer: Answer::InDoubt };
    let ledger = Ledger::new(vec![Entry { at: at(7), attempt: 1, fact }]);
    assert!(store.note(&tenant, id(1), 1, ledger.clone()).await.unwrap());
    drop(store);
    assert_eq!(open().executing().await.unwrap()[0].ledger, ledger);
}

#[tokio::test]
async fn a_file_of_the_first_schema_is_read_and_goes_on() {
    let folder = Folder::new();
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute_batch(include_str!("../../migrations/001_actions.sql")).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    let NewAction { proposal, .. } = new_action(1);
    let digest = Digest::of("bytes");
    // To the letter what the first version wrote.
    let fingerprint = Digest::of(format!(
        "acme\nagent\nvoid_ticket\n{}\ntickets\n{digest}\ndatabase main sqlite\n",
        proposal.arguments.fingerprint()
    ));
    let ledger =
        r#"[{"at":6,"attempt":1,"fact":"committed","database":"main","step":"mail","statements":["x"]}]"#;
    file.execute(
        "INSERT INTO actions (id, revision, tenant, proposer, tool, arguments, component, component_digest,
             grants, fingerprint, preview_kind, created_at, max_attempts, status, attempts, expires_at, ledger)
         VALUES (?, 1, 'acme', 'agent', 'void_ticket', ?, 'tickets', ?, ?, ?, 'none', 0, 3, 'Pending', 1, 1000, ?)",
        (
            id(1).to_string(),
            proposal.arguments.kept().unwrap().as_str(),
            digest.to_string(),
            "database main sqlite\n",
            fingerprint.to_string(),
            ledger,
        ),
    )
    .unwrap();
    file.execute_batch("INSERT INTO history VALUES (1, 1, 0, 'agent', NULL, 'Pending', 0, 'Proposed.')")
        .unwrap();
    drop(file);

    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    let old = store.load(&proposal.tenant, id(1)).await.unwrap().unwrap();
    assert_eq!(old.proposal.binding, proposal.binding);
    let [Entry { fact: Fact::Committed { statements, .. }, .. }] = old.ledger.entries() else {
        panic!("{:?}", old.ledger)
    };
    assert_eq!(*statements, ["x"]);
    assert_eq!(store.needed_components().await.unwrap(), [digest]);
    assert!(matches!(store.swap(change(&old, executing(None))).await.unwrap(), Swap::Done(_)));
    assert!(matches!(store.propose(new_action(2)).await.unwrap(), Proposed::New(_)));
}

#[tokio::test]
async fn an_empty_history_is_not_begun_beside_databases_that_were_used() {
    for empty in [false, true] {
        for (left, is_folder) in [("databases", true), ("databases.db", false)] {
            let folder = Folder::new();
            let path = folder.path("actions.db");
            if empty {
                std::fs::write(&path, "").unwrap();
            }
            match is_folder {
                true => std::fs::create_dir(folder.path(left)).unwrap(),
                false => std::fs::write(folder.path(left), "").unwrap(),
            }
            let why = refusal(path.clone());
            let expected = if empty { "is empty" } else { "is gone" };
            assert!(why.contains(expected) && why.contains("Put the file back"), "{left}: {why}");
            assert_eq!(path.exists(), empty, "nothing was made");
        }
    }
    let folder = Folder::new();
    std::fs::write(folder.path("actions.db"), "").unwrap();
    drop(SqliteActions::open(folder.path("actions.db")).unwrap());
    std::fs::create_dir(folder.path("databases")).unwrap();
    drop(SqliteActions::open(folder.path("actions.db")).unwrap());
}

#[tokio::test]
async fn a_history_that_lost_its_log_is_not_begun_anew() {
    let folder = Folder::new();
    let path = folder.path("actions.db");
    // What there is before the first checkpoint: everything is in the log yet.
    let made = rusqlite::Connection::open(&path).unwrap();
    made.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(made);
    std::fs::create_dir(folder.path("databases")).unwrap();
    let why = refusal(path);
    assert!(why.contains("-wal") && why.contains("Put the file back"), "{why}");
}
