//! What stays in the chain of texts that were erased, and what stays of them in the file.

use rusqlite::Connection;
use tether_core::action::{Arguments, Output, Preview, State};
use tether_core::port::actions::{ActionStore, Proposed};
use tether_store::SqliteActions;

use crate::chain::{findings, history, moved, succeeded, tamper};
use crate::contract::given::*;
use crate::folder::Folder;

#[tokio::test]
async fn what_was_erased_is_no_finding_and_the_texts_are_gone() {
    let folder = Folder::new();
    history(&folder).await;
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    store.erase_outputs(at(100), at(200), None, 9).await.unwrap();
    store.erase_arguments(at(100), at(200), None, 9).await.unwrap();
    drop(store);
    assert_eq!(findings(&folder, &[]), [""; 0]);
    let file = Connection::open(folder.path("a.db")).unwrap();
    let texts: (i64, i64) = file
        .query_row(
            "SELECT count(output), sum(arguments <> '') FROM actions WHERE number IN (1, 2)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(texts, (0, 0));
    for forged in [
        "output_digest = 'x'",
        "arguments_digest = arguments_digest || '0'",
        // Another fingerprint, of the row alike.
        "arguments_digest = replace(arguments_digest, substr(arguments_digest, 8, 4), '0000')",
        "preview_digest = ''",
        // A text that comes back beside what an erasure left of it.
        "output = '{}'",
        "arguments = '{}'",
        "preview_kind = 'text', preview = ''",
    ] {
        let erased = std::fs::read(folder.path("a.db")).unwrap();
        tamper(&folder, &format!("UPDATE actions SET {forged} WHERE number = 1"));
        assert!(findings(&folder, &[]).contains(&"1".to_owned()), "{forged}");
        std::fs::write(folder.path("a.db"), erased).unwrap();
    }
}

#[tokio::test]
async fn what_was_erased_is_overwritten_in_the_file() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    for number in 1..=3 {
        // One that fits on a page, and one that does not.
        let long = "canary ".repeat(if number == 1 { 1 } else { 5_000 });
        let mut new = new_action(number);
        new.proposal.arguments = Arguments::Kept(json(&format!("{long:?}")));
        new.proposal.preview = Preview::Text(long.clone());
        let Proposed::New(action) = store.propose(new).await.unwrap() else { panic!("it is new") };
        let claimed = moved(&store, &action, executing(None)).await;
        let State::Succeeded { attempts_used, claim, at, approvals, .. } = succeeded() else { panic!() };
        let output = Output::Kept(json(&format!("{long:?}")));
        moved(&store, &claimed, State::Succeeded { attempts_used, claim, at, approvals, output }).await;
    }
    let canaries = || {
        let bytes = std::fs::read(folder.path("a.db")).unwrap();
        bytes.windows(6).filter(|window| window == b"canary").count()
    };
    drop(store);
    assert!(canaries() > 10_000);
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    store.erase_outputs(at(100), at(200), None, 9).await.unwrap();
    store.erase_arguments(at(100), at(200), None, 9).await.unwrap();
    drop(store);
    // Whoever closes the file last takes the log into it.
    drop(Connection::open(folder.path("a.db")).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    // SQLite leaves scraps on pages whose rows it has moved, less than a page of them.
    assert!(canaries() < 4096 / 7, "{}", canaries());
}
