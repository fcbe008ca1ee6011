//! What only shows from within: the group commit, a full disk, the cost of a list.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use tether_core::action::{Arguments, Claim, Event, Preview, Proposal, Status, Verdict};
use tether_core::grant::{Binding, BoundComponent, Grants};
use tether_core::json::JsonText;

use super::*;
use crate::sqlite::test_folder::Folder;

fn new_action(number: u64, arguments: &str) -> NewAction {
    NewAction {
        id: format!("{number:032x}").parse().unwrap(),
        proposal: Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(JsonText::parse(arguments).unwrap()),
            binding: Binding::Component(BoundComponent {
                component: "tickets".parse().unwrap(),
                digest: Digest::of("bytes"),
                grants: Grants::default(),
            }),
            preview: Preview::None,
            created_at: Timestamp::EPOCH,
            max_attempts: 3,
            people: 1,
        },
        expires_at: Timestamp::from_millis(1_000),
        key: None,
        channel: None,
        max_open: None,
    }
}

/// Lets the file grow by no more than `pages`.
async fn limit(store: &SqliteActions, pages: i64) {
    let limit = move |connection: &Connection| {
        let now: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", now + pages, |_| Ok(()))?;
        Ok(())
    };
    store.writer.write(limit).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_changes_nothing() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    let _ = store.propose(new_action(1, "1")).await.unwrap();
    limit(&store, 2).await;
    let huge = format!("\"{}\"", "x".repeat(100_000));
    assert!(matches!(store.propose(new_action(2, &huge)).await, Err(StoreError::Full)));
    let tenant = "acme".parse().unwrap();
    assert!(store.load(&tenant, new_action(2, "1").id).await.unwrap().is_none());
    assert!(store.load(&tenant, new_action(1, "1").id).await.unwrap().is_some());
    limit(&store, 1_000).await;
    assert!(matches!(store.propose(new_action(2, &huge)).await, Ok(Proposed::New(_))), "once there is room");
}

#[tokio::test]
async fn a_lock_of_another_program_is_told_as_such_and_nothing_is_written() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    store.writer.write(|connection| Ok(connection.busy_timeout(Duration::ZERO)?)).await.unwrap();
    let other = Connection::open(folder.path("a.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.propose(new_action(1, "1")).await, Err(StoreError::Busy)));
    other.execute_batch("COMMIT").unwrap();
    assert!(store.load(&"acme".parse().unwrap(), new_action(1, "1").id).await.unwrap().is_none());
    assert!(matches!(store.propose(new_action(1, "1")).await, Ok(Proposed::New(_))));
}

/// The pages that `write` adds to the log.
async fn pages<T>(folder: &Folder, write: impl Future<Output = T>) -> (T, u64) {
    let frames = || std::fs::metadata(folder.path("a.db-wal")).unwrap().len() / (4096 + 24);
    let before = frames();
    let written = write.await;
    (written, frames() - before)
}

/// Each of them is synced. Of those of a move, three are the history's: its end, where that
/// is, and what finds an action's events.
#[tokio::test]
async fn a_move_writes_few_pages() {
    const COUNT: u64 = 100;
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    // The log is not begun anew meanwhile.
    let endless = |connection: &Connection| {
        Ok(connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?)
    };
    store.writer.write(endless).await.unwrap();
    let mut actions = Vec::new();
    let [mut proposals, mut claims, mut ends] = [0; 3];
    for number in 1..=COUNT {
        let (proposed, written) = pages(&folder, store.propose(new_action(number, "1"))).await;
        proposals += written;
        let Proposed::New(action) = proposed.unwrap() else { panic!("it is new") };
        actions.push(action);
    }
    for mut action in actions {
        let (claim, at) = (Claim { by: "ann".parse().unwrap(), key: None }, Timestamp::EPOCH);
        let verdict = Verdict::Succeeded(JsonText::empty_object());
        let settled = Event::Settled { verdict, at, expires_after: Duration::ZERO };
        for (event, sum) in [(Event::Claimed { claim, at }, &mut claims), (settled, &mut ends)] {
            let (state, ledger, detail) = (action.next(event).unwrap(), Ledger::default(), String::new());
            let change = Change { seen: action, state, ledger, actor: None, at, detail };
            let (swapped, written) = pages(&folder, store.swap(change)).await;
            *sum += written;
            let Swap::Done(moved) = swapped.unwrap() else { panic!("nobody else moves it") };
            action = moved;
        }
    }
    let each = [proposals, claims, ends].map(|sum| sum as f64 / COUNT as f64);
    println!("{each:?} pages for a proposal, a claim and an end");
    assert!(each[0] < 12.0 && each[1] < 10.0 && each[2] < 11.0, "{each:?}");
}

/// Polls a write once: its job is handed in.
async fn hand_in(write: &mut (impl Future + Unpin)) {
    std::future::poll_fn(|context| {
        assert!(std::pin::Pin::new(&mut *write).poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

#[tokio::test]
async fn one_write_that_fails_spoils_no_other_that_waits_with_it() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    limit(&store, 8).await;
    let (release, held) = mpsc::channel::<()>();
    let mut holder = Box::pin(store.writer.write(move |_| {
        // It may run twice, and waits only the first time.
        let _ = held.recv();
        Ok(())
    }));
    hand_in(&mut holder).await;
    let mut waiting = Vec::new();
    for number in 1..=7 {
        let arguments = if number == 4 { format!("\"{}\"", "x".repeat(200_000)) } else { "1".into() };
        let mut write = store.propose(new_action(number, &arguments));
        hand_in(&mut write).await;
        waiting.push(write);
    }
    drop(release);
    holder.await.unwrap();
    for (number, write) in (1..).zip(waiting) {
        match write.await {
            Ok(Proposed::New(action)) => assert_eq!(action.id, new_action(number, "1").id),
            Err(StoreError::Full) => assert_eq!(number, 4),
            other => panic!("{number}: {other:?}"),
        }
    }
    let tenant = "acme".parse().unwrap();
    let kept = store.list(&tenant, Filter::default(), 9, None).await.unwrap();
    assert_eq!(kept.actions.len(), 6);
}

/// Steps of SQLite's machine that `read` takes, in thousands.
fn steps<T>(connection: &mut Connection, read: impl FnOnce(&Connection) -> Result<T, Fault>) -> u64 {
    let counted = Arc::new(AtomicU64::new(0));
    let counter = counted.clone();
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1_000, Some(count)).unwrap();
    read(connection).unwrap_or_else(|fault| panic!("{fault}"));
    connection.progress_handler(0, None::<fn() -> bool>).unwrap();
    counted.load(Ordering::Relaxed)
}

#[test]
fn many_stored_actions_slow_nothing_down() {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::update(&mut connection).unwrap();
    let _ = writes::propose(&connection, &new_action(1, "1")).unwrap();
    // Everything that its fingerprint does not cover may differ.
    connection
        .execute_batch(
            "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
             INSERT INTO actions (id, revision, tenant, proposer, tool, arguments, handler_name, handler_digest,
                 grants, fingerprint, preview_kind, created_at, max_attempts, status, attempts, expires_at,
                 person, moment, output, records_due, ledger)
             SELECT printf('%032x', i), 1, tenant, proposer, tool, arguments, handler_name, handler_digest,
                 grants, fingerprint, preview_kind, created_at, max_attempts,
                 CASE i % 5000 WHEN 0 THEN 'Executing' WHEN 1 THEN 'Expired' ELSE iif(i % 2, 'Pending', 'Succeeded') END,
                 1, i + 1000, 'ann', i, iif(i % 2, NULL, '1'), iif(i % 2, i, NULL), ledger
             FROM n, actions WHERE number = 1",
        )
        .unwrap();
    let tenant: TenantId = "acme".parse().unwrap();
    let proposers = [None, Some("agent".parse().unwrap()), Some("nobody".parse().unwrap())];
    let middle = format!("{:032x}", 25_000);
    for status in [None, Some(Status::Pending), Some(Status::Expired), Some(Status::Declined)] {
        for proposer in &proposers {
            for cursor in [None, Some(middle.as_str())] {
                let filter = Filter { status, proposer: proposer.clone() };
                let list = |connection: &Connection| reads::list(connection, &tenant, &filter, 20, cursor);
                assert!(steps(&mut connection, list) < 5, "{filter:?}");
            }
        }
    }
    let later = Timestamp::from_millis(1_000_000);
    for after in [None, Some(Mark { at: Timestamp::from_millis(26_000), number: 25_000 })] {
        assert!(steps(&mut connection, |connection| reads::overdue(connection, later, after, 20)) < 5);
        assert!(steps(&mut connection, |connection| reads::with_output(connection, later, after, 20)) < 5);
        assert!(steps(&mut connection, |connection| reads::with_arguments(connection, later, after, 20)) < 5);
        assert!(steps(&mut connection, |connection| reads::with_records(connection, later, after, 20)) < 5);
    }
    assert!(steps(&mut connection, reads::executing) < 5);
    assert!(steps(&mut connection, reads::needed_components) < 5);
}
