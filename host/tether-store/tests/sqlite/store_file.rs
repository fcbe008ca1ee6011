//! The file of the actions: opening it, and rows that somebody changed.

use std::sync::Arc;

use rusqlite::Connection;
use tether_core::port::actions::{ActionStore, Filter, StoreError, Swap};
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
async fn a_row_that_was_changed_never_runs() {
    let changes = [
        "arguments = '{\"ticket\": 8}'",
        "arguments = '{'",
        "tenant = 'umbrella'",
        "proposer = 'mallory'",
        "tool = 'delete_everything'",
        "component = 'other'",
        "component_digest = 'sha256:0000000000000000000000000000000000000000000000000000000000000000'",
        "grants = 'database main sqlite:/etc/other.db' || char(10)",
        "fingerprint = ''",
    ];
    for changed in changes {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        for number in [1, 2] {
            let _ = store.propose(new_action(number)).await.unwrap();
        }
        let action = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
        let file = Connection::open(folder.path("a.db")).unwrap();
        file.execute(&format!("UPDATE actions SET {changed} WHERE number = 1"), []).unwrap();

        let mut tenant = "acme".parse().unwrap();
        if changed.starts_with("tenant") {
            tenant = "umbrella".parse().unwrap();
        }
        let why = store.load(&tenant, id(1)).await.unwrap_err();
        assert!(why.to_string().contains("was changed in the store"), "{changed}: {why}");
        let mut claim = change(&action, executing(None));
        claim.tenant = tenant;
        assert!(matches!(store.swap(claim).await, Err(StoreError::Failed(_))), "{changed}");
        let listed = store.list(&"acme".parse().unwrap(), Filter::default(), 9, None).await.unwrap();
        assert_eq!(listed.actions.iter().map(|action| action.id).collect::<Vec<_>>(), [id(2)], "{changed}");
        let overdue = store.overdue(at(1_000_000), 9).await.unwrap();
        assert_eq!(overdue.iter().map(|action| action.id).collect::<Vec<_>>(), [id(2)], "{changed}");
    }
}
