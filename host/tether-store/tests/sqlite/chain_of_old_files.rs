//! Files of before histories were chained.

use rusqlite::Connection;
use tether_core::action::Status;
use tether_core::digest::Digest;
use tether_core::port::actions::{ActionStore, Swap};
use tether_store::SqliteActions;

use super::chain::{findings, heads};
use crate::contract::given::*;
use crate::folder::Folder;

/// A file of the second schema: action 1 was done and its result erased, 2 waits, 3 of
/// another tenant executes, 4 was done.
fn old_file(folder: &Folder) -> Connection {
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute_batch(include_str!("../../migrations/001_actions.sql")).unwrap();
    file.execute_batch(include_str!("../../migrations/002_handlers.sql")).unwrap();
    file.pragma_update(None, "user_version", 2).unwrap();
    let digest = Digest::of("bytes");
    for (number, tenant, revision, rest) in [
        (1, "acme", 4, "'Succeeded', 1, NULL, 'ann', 9, NULL"),
        (2, "acme", 1, "'Pending', 0, 1000, NULL, NULL, NULL"),
        (3, "umbrella", 2, "'Executing', 1, 1000, 'ann', 5, NULL"),
        (4, "acme", 3, "'Succeeded', 1, NULL, 'ann', 9, '{\"n\":1}'"),
    ] {
        // To the letter what that version wrote.
        let fingerprint = Digest::of(format!(
            "{tenant}\nagent\nvoid_ticket\n{}\ntickets\n{digest}\ndatabase main sqlite\n",
            json("{\"ticket\": 7}").fingerprint()
        ));
        file.execute(
            &format!(
                "INSERT INTO actions (id, revision, tenant, proposer, tool, arguments, handler_name,
                     handler_digest, grants, fingerprint, preview_kind, created_at, max_attempts, ledger, status,
                     attempts, expires_at, person, moment, output)
                 VALUES (?, ?, ?, 'agent', 'void_ticket', '{{\"ticket\": 7}}', 'tickets', ?, ?, ?, 'none', 0, 3,
                     '[]', {rest})"
            ),
            (
                id(number).to_string(),
                revision,
                tenant,
                digest.to_string(),
                "database main sqlite\n",
                fingerprint.to_string(),
            ),
        )
        .unwrap();
    }
    file.execute_batch(
        "INSERT INTO history VALUES
             (1, 1, 0, 'agent', NULL, 'Pending', 0, 'Proposed.'),
             (1, 2, 5, 'ann', 'Pending', 'Executing', 1, 'confirmed'),
             (1, 3, 9, NULL, 'Executing', 'Succeeded', 1, 'done'),
             (2, 1, 0, 'agent', NULL, 'Pending', 0, 'Proposed.'),
             (3, 1, 0, 'agent', NULL, 'Pending', 0, 'Proposed.'),
             (3, 2, 5, 'ann', 'Pending', 'Executing', 1, 'confirmed'),
             (4, 1, 0, 'agent', NULL, 'Pending', 0, 'Proposed.'),
             (4, 2, 5, 'ann', 'Pending', 'Executing', 1, 'confirmed'),
             (4, 3, 9, NULL, 'Executing', 'Succeeded', 1, 'done')",
    )
    .unwrap();
    file
}

#[tokio::test]
async fn an_old_history_is_chained_and_goes_on() {
    let folder = Folder::new();
    drop(old_file(&folder));
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    assert_eq!(findings(&folder, &[]), [""; 0]);
    let places: Vec<_> = heads(&folder).iter().map(|head| (head.tenant.to_string(), head.place)).collect();
    assert_eq!(places, [("acme".to_owned(), 8), ("umbrella".to_owned(), 2)]);

    let tenant = "acme".parse().unwrap();
    let told = store.history(&tenant, id(1)).await.unwrap();
    let erased = told.last().unwrap();
    assert_eq!(
        (told.len(), erased.to, erased.detail.as_str()),
        (4, Status::Succeeded, "its result was erased")
    );
    assert_eq!(told[1].actor.as_ref().unwrap().user.as_str(), "ann");
    assert_eq!(told[1].actor.as_ref().unwrap().channel, None, "that was not kept then");

    let waits = store.load(&tenant, id(2)).await.unwrap().unwrap();
    assert!(matches!(store.swap(change(&waits, executing(None))).await.unwrap(), Swap::Done(_)));
    drop(store);
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    assert_eq!(store.executing().await.unwrap().len(), 2);
    assert_eq!(findings(&folder, &[]), [""; 0]);
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute("UPDATE actions SET person = 'eve' WHERE number = 4", []).unwrap();
    assert_eq!(findings(&folder, &[]), ["4"]);
}

#[tokio::test]
async fn what_is_damaged_keeps_no_host_from_starting_and_is_found() {
    let folder = Folder::new();
    old_file(&folder)
        .execute_batch(
            "UPDATE history SET became = 'Gone' WHERE action = 4 AND revision = 2;
             UPDATE actions SET tenant = '' WHERE number = 3",
        )
        .unwrap();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    assert_eq!(findings(&folder, &[]), ["3"], "and what has lost an event is for the checker of cases");
    let waits = store.load(&"acme".parse().unwrap(), id(2)).await.unwrap().unwrap();
    assert!(matches!(store.swap(change(&waits, executing(None))).await.unwrap(), Swap::Done(_)));
}

#[tokio::test]
async fn what_lost_its_hashes_later_is_not_taken_over_again() {
    let folder = Folder::new();
    drop(old_file(&folder));
    drop(SqliteActions::open(folder.path("a.db")).unwrap());
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute_batch("DELETE FROM history WHERE place = 1; DELETE FROM chain_heads").unwrap();
    drop(SqliteActions::open(folder.path("a.db")).unwrap());
    assert!(!findings(&folder, &[]).is_empty());
}
