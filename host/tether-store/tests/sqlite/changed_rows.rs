//! Rows that somebody changed: never told, and never acted on.

use rusqlite::Connection;
use tether_core::action::{Action, Approval, Claim, Output, State};
use tether_core::id::ActionId;
use tether_core::port::actions::{ActionStore, Filter, Proposed, StoreError, Swap};
use tether_store::SqliteActions;

use crate::chain::{moved, succeeded};
use crate::contract::given::*;
use crate::folder::Folder;

/// Somebody changes row 1.
fn tamper(folder: &Folder, changed: &str) {
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute(&format!("UPDATE actions SET {changed} WHERE number = 1"), []).unwrap();
}

#[track_caller]
fn refused<T>(told: Result<T, StoreError>, changed: &str) {
    match told {
        Err(StoreError::Changed { id: named, .. }) if named == id(1).to_string() => {}
        Err(other) => panic!("{changed}: {other:?}"),
        Ok(_) => panic!("{changed}: it was told"),
    }
}

fn ids(actions: &[Action]) -> Vec<ActionId> {
    actions.iter().map(|action| action.id).collect()
}

async fn listed(store: &SqliteActions) -> Vec<ActionId> {
    ids(&store.list(&"acme".parse().unwrap(), Filter::default(), 9, None).await.unwrap().actions)
}

#[tokio::test]
async fn a_row_that_was_changed_never_runs() {
    let changes = [
        "arguments = '{\"ticket\": 8}'",
        "arguments = '{'",
        "tenant = 'umbrella'",
        "proposer = 'mallory'",
        "tool = 'delete_everything'",
        "handler = 'endpoint'",
        "handler = 'oracle'",
        "handler_name = 'other'",
        "handler_digest = 'sha256:0000000000000000000000000000000000000000000000000000000000000000'",
        "grants = 'database main sqlite:/etc/other.db' || char(10)",
        "fingerprint = ''",
    ];
    for changed in changes {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        for number in [1, 2] {
            let _ = store.propose(new_action(number)).await.unwrap();
        }
        tamper(&folder, changed);

        let mut tenant = "acme".parse().unwrap();
        if changed.starts_with("tenant") {
            tenant = "umbrella".parse().unwrap();
        }
        refused(store.load(&tenant, id(1)).await, changed);
        assert_eq!(listed(&store).await, [id(2)], "{changed}");
        assert_eq!(ids(&store.overdue(at(1_000_000), None, 9).await.unwrap().actions), [id(2)], "{changed}");
    }
}

/// What no fingerprint covers.
const BENEATH: [&str; 14] = [
    "preview_kind = 'text', preview = 'Nothing to see here'",
    // As if what was erased had been what is shown.
    "preview_kind = 'text', preview = 'x', preview_digest = ''",
    "people = 2",
    "people = -1",
    "max_attempts = 9",
    "created_at = 1",
    "proposal_key = 'k'",
    "arguments = '{\"ticket\":  7}'",
    "expires_at = 99999",
    "attempts = 1",
    "attempts = -1",
    "approvals = '[{\"by\":\"eve\",\"at\":1}]'",
    "failure = '{\"cause\":\"failed\",\"message\":\"\"}'",
    "ledger = '[]' || ' '",
];

#[tokio::test]
async fn a_row_that_is_another_than_its_history_says_is_not_told() {
    for changed in BENEATH {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let mut keyed = new_action(1);
        keyed.key = Some("p".parse().unwrap());
        for new in [keyed.clone(), new_action(2)] {
            let _ = store.propose(new).await.unwrap();
        }
        tamper(&folder, changed);
        let tenant = "acme".parse().unwrap();
        refused(store.load(&tenant, id(1)).await, changed);
        assert_eq!(listed(&store).await, [id(2)], "{changed}");
        assert_eq!(ids(&store.overdue(at(1_000_000), None, 9).await.unwrap().actions), [id(2)], "{changed}");
        if !changed.starts_with("proposal_key") {
            let (user, key) = ("agent".parse().unwrap(), "p".parse().unwrap());
            refused(store.proposed_with(&tenant, &user, &key).await, changed);
            refused(store.propose(keyed).await, changed);
        }
    }
}

/// Whoever changed it was faster than the person.
#[tokio::test]
async fn f28_a_row_that_is_another_than_its_history_says_is_not_confirmed() {
    for changed in BENEATH {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let _ = store.propose(new_action(1)).await.unwrap();
        let seen = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
        tamper(&folder, changed);
        refused(store.swap(change(&seen, executing(Some("k")))).await, changed);
        let State::Pending { attempts_used, expires_at, .. } = seen.state.clone() else {
            panic!("{changed}")
        };
        let approvals = vec![Approval { claim: claim_of_ann(), at: NOON }];
        let approved = State::Pending { attempts_used, expires_at, last_failure: None, approvals };
        refused(store.swap(change(&seen, approved)).await, changed);
        let no = State::Declined { attempts_used: 0, at: NOON, by: claim_of_ann().by, reason: None };
        assert!(matches!(store.swap(change(&seen, no)).await, Ok(Swap::Done(_))), "{changed}: a no is a no");
        refused(store.load(&"acme".parse().unwrap(), id(1)).await, changed);
    }
}

fn claim_of_ann() -> Claim {
    claim(Some("other"))
}

#[tokio::test]
async fn a_result_that_was_changed_is_no_result() {
    for changed in [
        "output = '{\"n\":2}'",
        "output = NULL",
        "output = output || ' '",
        "output_digest = ''",
        "person = 'eve'",
        "claim_key = 'another'",
        "status = 'Pending', expires_at = 99999",
        "revision = 2",
        "revision = 4",
        "ledger = '[] '",
    ] {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        for number in [1, 2] {
            let _ = store.propose(new_action(number)).await.unwrap();
            let action = store.load(&"acme".parse().unwrap(), id(number)).await.unwrap().unwrap();
            let claimed = moved(&store, &action, executing(Some(&format!("k{number}")))).await;
            moved(&store, &claimed, succeeded()).await;
        }
        tamper(&folder, changed);
        refused(store.load(&"acme".parse().unwrap(), id(1)).await, changed);
        assert_eq!(listed(&store).await, [id(2)], "{changed}");
    }
}

#[tokio::test]
async fn what_executes_and_was_changed_is_not_settled() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    for number in [1, 2] {
        let _ = store.propose(new_action(number)).await.unwrap();
        let action = store.load(&"acme".parse().unwrap(), id(number)).await.unwrap().unwrap();
        moved(&store, &action, executing(None)).await;
    }
    tamper(&folder, "person = 'eve'");
    assert_eq!(ids(&store.executing().await.unwrap()), [id(2)]);
}

/// A head that no chain has: nothing is chained to it, and another tenant goes on.
#[tokio::test]
async fn nothing_is_written_after_a_head_that_cannot_be() {
    for changed in ["place = -1", "place = 0", "place = 9223372036854775807", "hash = x'01'"] {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let done = new_action(1);
        let mut others = new_action(2);
        others.proposal.tenant = "umbrella".parse().unwrap();
        for new in [done, others] {
            let Proposed::New(action) = store.propose(new).await.unwrap() else { panic!("{changed}") };
            let claimed = moved(&store, &action, executing(None)).await;
            let State::Succeeded { attempts_used, at, output, approvals, .. } = succeeded() else { panic!() };
            let claim = claim(None);
            moved(&store, &claimed, State::Succeeded { attempts_used, claim, at, output, approvals }).await;
        }
        let Proposed::New(waits) = store.propose(new_action(3)).await.unwrap() else { panic!("{changed}") };
        let file = Connection::open(folder.path("a.db")).unwrap();
        file.execute(&format!("UPDATE chain_heads SET {changed} WHERE tenant = 'acme'"), []).unwrap();

        let count =
            || file.query_row("SELECT count(*) FROM history", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count(), 7);
        for refused in [
            store.propose(new_action(4)).await.map(drop),
            store.swap(change(&waits, executing(None))).await.map(drop),
        ] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains("where the history of acme ends was changed"), "{changed}: {why}");
        }
        let told = store.load(&"acme".parse().unwrap(), id(3)).await.unwrap().unwrap();
        assert_eq!((told.revision, count()), (waits.revision, 7), "{changed}: nothing was written");

        let mut new = new_action(5);
        new.proposal.tenant = "umbrella".parse().unwrap();
        assert!(matches!(store.propose(new).await, Ok(Proposed::New(_))), "{changed}");
        // Retention goes on for others, and takes nothing that it cannot tell of.
        for seen in [
            store.erase_outputs(at(100), at(200), None, 9).await.unwrap(),
            store.erase_arguments(at(100), at(200), None, 9).await.unwrap(),
        ] {
            let left: Vec<_> = seen.left.into_iter().map(|left| left.id).collect();
            assert_eq!((seen.count, left), (2, vec![id(1).to_string()]), "{changed}");
        }
        let kept = "SELECT group_concat(tenant) FROM actions WHERE output IS NOT NULL AND arguments <> ''";
        let kept = file.query_row(kept, [], |row| row.get::<_, String>(0));
        assert_eq!((kept, count()), (Ok("acme".to_owned()), 10), "{changed}: and two tell of it");
        let told = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
        assert!(matches!(told.state, State::Succeeded { output: Output::Kept(_), .. }), "{changed}");
    }
}

/// An event that is there already, of the revision to which an erasure would come.
#[tokio::test]
async fn an_action_of_which_nothing_can_be_told_keeps_no_other_from_being_erased() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    for number in [1, 2] {
        let _ = store.propose(new_action(number)).await.unwrap();
        let action = store.load(&"acme".parse().unwrap(), id(number)).await.unwrap().unwrap();
        let claimed = moved(&store, &action, executing(Some(&format!("k{number}")))).await;
        moved(&store, &claimed, succeeded()).await;
    }
    let file = Connection::open(folder.path("a.db")).unwrap();
    file.execute_batch(
        "INSERT INTO history (tenant, place, action, revision, at, became, attempt, detail, proposal, state, hash)
         SELECT tenant, 99, action, 4, at, became, attempt, detail, proposal, state, hash FROM history
         WHERE action = 1 AND revision = 3",
    )
    .unwrap();
    let first = store.erase_outputs(at(100), at(200), None, 1).await.unwrap();
    assert_eq!((first.count, first.left.len()), (1, 1));
    let second = store.erase_outputs(at(100), at(200), first.last, 1).await.unwrap();
    assert_eq!((second.count, second.left.len()), (1, 0), "it goes on after the mark");
    let kept =
        file.query_row("SELECT group_concat(number) FROM actions WHERE output IS NOT NULL", [], |row| {
            row.get::<_, String>(0)
        });
    assert_eq!(kept, Ok("1".to_owned()));
}
