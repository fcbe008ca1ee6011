//! What the chain of the history shows to whoever checks the file. With every test a
//! short history; the rate with a long one:
//!
//! ```text
//! TETHER_EVENTS=1000000 cargo test --release -p tether-store --test sqlite chain::many -- --nocapture
//! ```

use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;
use tether_core::action::{Action, Approval, Output, State};
use tether_core::audit::Keys;
use tether_core::chain::{Checker, Head};
use tether_core::port::actions::{ActionStore, Proposed, Swap};
use tether_store::{Archive, SqliteActions};
use tokio::task::JoinSet;

use crate::contract::given::*;
use crate::folder::Folder;

pub(crate) async fn moved(store: &SqliteActions, action: &Action, state: State) -> Action {
    match store.swap(change(action, state)).await.unwrap() {
        Swap::Done(action) => action,
        other => panic!("{other:?}"),
    }
}

async fn propose(store: &SqliteActions, number: u64, tenant: &str) -> Action {
    let mut new = new_action(number);
    new.proposal.tenant = tenant.parse().unwrap();
    match store.propose(new).await.unwrap() {
        Proposed::New(action) => action,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn succeeded() -> State {
    State::Succeeded {
        attempts_used: 1,
        claim: claim(Some("k")),
        at: at(9),
        output: Output::Kept(json("{\"n\":1}")),
        approvals: vec![],
    }
}

/// Two tenants: of `acme` action 1 was done and 3 waits, of `umbrella` 2 was declined.
/// The events of `acme` have the numbers 1, 3, 4 and 6.
pub(crate) async fn history(folder: &Folder) {
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    let first = propose(&store, 1, "acme").await;
    let second = propose(&store, 2, "umbrella").await;
    let claimed = moved(&store, &first, executing(Some("k"))).await;
    moved(&store, &claimed, succeeded()).await;
    let no = State::Declined { attempts_used: 0, at: at(9), by: claim(None).by, reason: Some("no".into()) };
    moved(&store, &second, no).await;
    propose(&store, 3, "acme").await;
}

/// What is wrong with the file: broken places, as `tenant place`, and the ids of actions
/// that are others than their history says.
pub(crate) fn findings(folder: &Folder, witnesses: &[Head]) -> Vec<String> {
    let mut archive = Archive::open(folder.path("a.db")).unwrap();
    let mut checker = Checker::with_witnesses(witnesses.to_vec());
    let mut found = vec![];
    archive
        .events(|event| {
            match event {
                Ok(event) => {
                    let broken = checker.next(&event.line(), &event.announced.hash);
                    found.extend(broken.map(|broken| format!("{} {}", broken.tenant, broken.place)));
                }
                Err(damaged) => found.push(damaged.id),
            }
            Ok(())
        })
        .unwrap();
    let (kept, damaged): (Vec<_>, Vec<_>) =
        archive.heads().unwrap().into_iter().partition(|head| head.is_ok());
    found.extend(damaged.into_iter().map(|head| format!("head of {:?}", head.unwrap_err().id)));
    let kept: Vec<_> = kept.into_iter().map(Result::unwrap).collect();
    let broken = checker.end(&kept).into_iter();
    found.extend(broken.map(|broken| format!("{} {}", broken.tenant, broken.place)));
    for kept in archive.next_page(1_000).unwrap() {
        match kept {
            Ok(kept) if kept.fits => {}
            Ok(kept) => found.push(kept.action.id.to_string().trim_start_matches('0').to_owned()),
            Err(damaged) => found.push(damaged.id.trim_start_matches('0').to_owned()),
        }
    }
    found
}

pub(crate) fn heads(folder: &Folder) -> Vec<Head> {
    let heads = Archive::open(folder.path("a.db")).unwrap().heads().unwrap();
    heads.into_iter().map(Result::unwrap).collect()
}

pub(crate) fn tamper(folder: &Folder, sql: &str) {
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.pragma_update(None, "foreign_keys", false).unwrap();
    file.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

#[tokio::test]
async fn a_history_that_was_left_alone_is_whole() {
    let folder = Folder::new();
    history(&folder).await;
    assert_eq!(findings(&folder, &heads(&folder)), [""; 0]);
}

#[tokio::test]
async fn every_kind_of_tampering_is_found_where_it_is() {
    let zeros = "x'0000000000000000000000000000000000000000000000000000000000000000'";
    let cases: &[(&str, &str)] = &[
        // Events: changed.
        ("UPDATE history SET at = 1 WHERE number = 3", "acme 2"),
        ("UPDATE history SET actor = 'bob' WHERE number = 3", "acme 2"),
        ("UPDATE history SET actor = NULL, channel = NULL WHERE number = 3", "acme 2"),
        ("UPDATE history SET channel = 'api' WHERE number = 3", "acme 2"),
        ("UPDATE history SET was = 'Executing' WHERE number = 3", "acme 2"),
        ("UPDATE history SET became = 'Declined' WHERE number = 3", "acme 2"),
        ("UPDATE history SET became = 'Pending ' WHERE number = 3", "event 3"),
        ("UPDATE history SET attempt = 2 WHERE number = 3", "acme 2"),
        ("UPDATE history SET detail = '' WHERE number = 3", "acme 2"),
        ("UPDATE history SET action = 3, revision = 9 WHERE number = 3", "acme 2"),
        ("UPDATE history SET revision = 9 WHERE number = 3", "acme 2"),
        ("UPDATE history SET proposal = state WHERE number = 3", "acme 2"),
        ("UPDATE history SET state = proposal WHERE number = 3", "acme 2"),
        ("UPDATE history SET confirm_key = NULL WHERE number = 3", "acme 2"),
        ("UPDATE history SET confirm_key = state WHERE number = 3", "acme 2"),
        ("UPDATE history SET confirm_key = state WHERE number = 4", "acme 3"),
        ("UPDATE history SET hash = proposal WHERE number = 3", "acme 2"),
        ("UPDATE history SET hash = x'00' WHERE number = 3", "event 3"),
        // Dropped.
        ("DELETE FROM history WHERE number = 1", "acme 2"),
        ("DELETE FROM history WHERE number = 3", "acme 3"),
        ("DELETE FROM history WHERE number = 6", "acme 3"),
        ("DELETE FROM history WHERE action = 1", "acme 4"),
        ("DELETE FROM history WHERE action = 1; DELETE FROM confirm_keys; DELETE FROM actions WHERE number = 1", "acme 4"),
        ("DELETE FROM history WHERE tenant = 'umbrella'", "umbrella 0"),
        ("DELETE FROM actions WHERE number = 3", "event 6"),
        // Added.
        (
            "INSERT INTO history SELECT 99, tenant, 5, action, 9, at, actor, channel, was, became, attempt,
                 detail, proposal, state, hash, confirm_key FROM history WHERE number = 4",
            "acme 5",
        ),
        (
            "INSERT INTO actions (id, revision, tenant, proposer, tool, arguments, handler_name, handler_digest,
                 grants, fingerprint, preview_kind, created_at, max_attempts, status, attempts, expires_at, ledger)
             SELECT '00000000000000000000000000000009', 1, tenant, proposer, tool, arguments, handler_name,
                 handler_digest, grants, fingerprint, preview_kind, created_at, max_attempts, status, attempts,
                 expires_at, ledger FROM actions WHERE number = 3",
            "9",
        ),
        // Moved.
        (
            "UPDATE history SET place = -1 WHERE number = 3; UPDATE history SET place = 2 WHERE number = 4;
             UPDATE history SET place = 3 WHERE number = 3",
            "acme 3",
        ),
        ("UPDATE history SET number = 99 WHERE number = 3", "acme 3"),
        ("UPDATE history SET tenant = 'umbrella', place = 3 WHERE number = 6", "umbrella 3"),
        (
            "UPDATE history SET tenant = CASE tenant WHEN 'acme' THEN 'umbrella' ELSE 'acme' END;
             UPDATE chain_heads SET tenant = tenant || '?';
             UPDATE chain_heads SET tenant = CASE tenant WHEN 'acme?' THEN 'umbrella' ELSE 'acme' END",
            "acme 1",
        ),
        // Heads.
        ("UPDATE chain_heads SET place = 3 WHERE tenant = 'acme'", "acme 4"),
        ("DELETE FROM chain_heads", "acme 4"),
        ("UPDATE chain_heads SET place = -1 WHERE tenant = 'acme'", "head of \"acme\""),
        ("UPDATE chain_heads SET place = 0 WHERE tenant = 'acme'", "head of \"acme\""),
        ("UPDATE chain_heads SET hash = x'01' WHERE tenant = 'acme'", "head of \"acme\""),
        ("UPDATE chain_heads SET tenant = '' WHERE tenant = 'acme'", "head of \"\""),
        // Actions, beneath what reading them finds.
        ("UPDATE actions SET created_at = 1 WHERE number = 1", "1"),
        ("UPDATE actions SET max_attempts = 4 WHERE number = 1", "1"),
        ("UPDATE actions SET people = 3 WHERE number = 1", "1"),
        ("UPDATE actions SET preview_kind = 'text', preview = '' WHERE number = 1", "1"),
        ("UPDATE actions SET proposal_key = 'k' WHERE number = 1", "1"),
        ("UPDATE actions SET arguments = arguments || ' ' WHERE number = 1", "1"),
        ("UPDATE actions SET attempts = 2 WHERE number = 1", "1"),
        ("UPDATE actions SET expires_at = 2000 WHERE number = 3", "3"),
        ("UPDATE actions SET person = 'bob' WHERE number = 1", "1"),
        ("UPDATE actions SET claim_key = NULL WHERE number = 1", "1"),
        ("UPDATE actions SET moment = 10 WHERE number = 1", "1"),
        ("UPDATE actions SET reason = 'yes' WHERE number = 2", "2"),
        ("UPDATE actions SET approvals = '[{\"by\":\"bob\",\"at\":1}]' WHERE number = 1", "1"),
        ("UPDATE actions SET output = '{\"n\":2}' WHERE number = 1", "1"),
        ("UPDATE actions SET output = NULL WHERE number = 1", "1"),
        ("UPDATE actions SET output_digest = '' WHERE number = 1", "1"),
        ("UPDATE actions SET preview_digest = '' WHERE number = 1", "1"),
        ("UPDATE actions SET ledger = '[ ]' WHERE number = 1", "1"),
        ("UPDATE actions SET revision = 2 WHERE number = 1", "1"),
        ("UPDATE actions SET status = 'Expired' WHERE number = 2", "2"),
        ("UPDATE actions SET id = '00000000000000000000000000000009' WHERE number = 1", "acme 1"),
    ];
    for (sql, expected) in cases {
        let folder = Folder::new();
        history(&folder).await;
        tamper(&folder, sql);
        let found = findings(&folder, &[]);
        assert!(found.iter().any(|found| found == expected), "{sql}: {found:?}");
    }
    // A vanished text with the digest that an erasure would have left.
    let folder = Folder::new();
    history(&folder).await;
    let digest = tether_core::digest::Digest::of("{\"n\":1}");
    tamper(
        &folder,
        &format!("UPDATE actions SET output = NULL, output_digest = '{digest}' WHERE number = 1"),
    );
    assert_eq!(findings(&folder, &[]), ["1"]);
    // Zeros are what a move of a changed row leaves; nobody has that digest.
    tamper(&folder, &format!("UPDATE history SET state = {zeros} WHERE number = 4"));
    assert!(findings(&folder, &[]).contains(&"acme 3".to_owned()));
}

#[tokio::test]
async fn an_approval_whose_key_was_let_go_of_is_found() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    let action = propose(&store, 1, "acme").await;
    let State::Pending { attempts_used, expires_at, last_failure, .. } = action.state.clone() else {
        panic!()
    };
    let approvals = vec![Approval { claim: claim(Some("k")), at: at(5) }];
    moved(&store, &action, State::Pending { attempts_used, expires_at, last_failure, approvals }).await;
    drop(store);
    assert_eq!(findings(&folder, &[]), [""; 0]);
    tamper(&folder, "DELETE FROM confirm_keys");
    assert_eq!(findings(&folder, &[]), ["1"]);
}

#[tokio::test]
async fn a_tail_that_was_cut_is_found_by_a_head_that_was_kept_elsewhere() {
    let folder = Folder::new();
    history(&folder).await;
    let kept = heads(&folder);
    tamper(
        &folder,
        "DELETE FROM history WHERE number = 6; DELETE FROM actions WHERE number = 3;
         UPDATE chain_heads SET place = 3, hash = (SELECT hash FROM history WHERE number = 4)
             WHERE tenant = 'acme'",
    );
    assert_eq!(findings(&folder, &[]), [""; 0], "nothing in the file tells");
    assert_eq!(findings(&folder, &kept), ["acme 4"]);
}

#[tokio::test]
async fn a_change_is_still_found_after_the_action_went_on() {
    for (sql, goes_on) in [
        ("UPDATE actions SET expires_at = 99 WHERE number = 3", "declined"),
        ("UPDATE actions SET reason = 'yes' WHERE number = 2", "erased"),
        ("UPDATE actions SET people = 2 WHERE number = 3", "declined"),
        ("UPDATE actions SET arguments = arguments || ' ' WHERE number = 2", "erased"),
    ] {
        let folder = Folder::new();
        history(&folder).await;
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let seen = store.load(&"acme".parse().unwrap(), id(3)).await.unwrap().unwrap();
        tamper(&folder, sql);
        if goes_on == "declined" {
            let no = State::Declined { attempts_used: 0, at: at(9), by: claim(None).by, reason: None };
            moved(&store, &seen, no).await;
        } else {
            store.erase_arguments(at(100), at(200), None, 9).await.unwrap();
        }
        drop(store);
        let found = findings(&folder, &[]);
        assert!(found.len() == 1 && ["2", "3"].contains(&&*found[0]), "{sql}: {found:?}");
    }
}

const WRITERS: u64 = 256;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_are_checked() {
    let wanted: u64 = std::env::var("TETHER_EVENTS").map_or(20_000, |text| text.parse().unwrap());
    let folder = Folder::new();
    let store = Arc::new(SqliteActions::open(folder.path("a.db")).unwrap());
    let start = Instant::now();
    let mut writers = JoinSet::new();
    // Many at a time: they share the syncs.
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            // Three events each: proposed, claimed, done.
            for number in (1..=wanted / 3 + 1).filter(|number| number % WRITERS == writer) {
                let tenant = format!("tenant {}", number % 10);
                let action = propose(&store, number, &tenant).await;
                let key = format!("k{number}");
                let claimed = moved(&store, &action, executing(Some(&key))).await;
                let done = State::Succeeded {
                    attempts_used: 1,
                    claim: claim(Some(&key)),
                    at: at(9),
                    output: Output::Kept(json("{\"n\":1}")),
                    approvals: vec![],
                };
                moved(&store, &claimed, done).await;
            }
        });
    }
    writers.join_all().await;
    drop(store);
    let written = start.elapsed();

    let mut archive = Archive::open(folder.path("a.db")).unwrap();
    let (mut checker, mut keys, mut count) = (Checker::default(), Keys::default(), 0_u64);
    let start = Instant::now();
    archive
        .events(|event| {
            let event = event.unwrap();
            assert_eq!(checker.next(&event.line(), &event.announced.hash), None);
            keys.event(&event.line());
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(checker.end(&heads(&folder)), []);
    archive
        .keys(|bound| {
            assert_eq!(keys.bound(&bound.unwrap()), None);
            Ok(())
        })
        .unwrap();
    assert_eq!(keys.end(), []);
    let chained = start.elapsed();
    assert!(count >= wanted && count == archive.count_events().unwrap());
    let mut actions = 0_u64;
    loop {
        let page = archive.next_page(500).unwrap();
        if page.is_empty() {
            break;
        }
        actions += page.len() as u64;
        assert!(page.into_iter().all(|kept| kept.unwrap().fits));
    }
    let checked = start.elapsed();
    assert_eq!(actions, archive.count().unwrap());
    println!(
        "{count} events written in {:.1} s, their chains checked in {:.2} s, with their {actions} actions in \
         {:.2} s: {:.0} events a second",
        written.as_secs_f64(),
        chained.as_secs_f64(),
        checked.as_secs_f64(),
        count as f64 / checked.as_secs_f64(),
    );
}
