//! What an action's ledger holds of earlier attempts is part of the chain while another one
//! executes; what that one notes is not yet.

use tether_core::action::{Action, State};
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_core::port::actions::{ActionStore, Change, StoreError, Swap};
use tether_store::SqliteActions;

use crate::chain::{findings, tamper};
use crate::contract::given::*;
use crate::folder::Folder;

fn sent(attempt: u32, answer: Answer) -> Entry {
    let request = Request {
        method: "POST".parse().unwrap(),
        origin: "https://a.test".to_owned(),
        path: "/refunds".to_owned(),
        step: None,
    };
    Entry { at: at(7), attempt, fact: Fact::Sent { request, answer } }
}

async fn moved(store: &SqliteActions, action: &Action, state: State, ledger: &Ledger) -> Action {
    let change = Change { ledger: ledger.clone(), ..change(action, state) };
    match store.swap(change).await.unwrap() {
        Swap::Done(action) => action,
        other => panic!("{other:?}"),
    }
}

fn pending(attempts_used: u32) -> State {
    State::Pending { attempts_used, expires_at: at(1_000), last_failure: None, approvals: vec![] }
}

/// Attempt 1 sent a request and was answered 503; attempt 2 executes, and may have sent
/// one, too.
async fn second_attempt(store: &SqliteActions) -> Action {
    let _ = store.propose(new_action(1)).await.unwrap();
    let action = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
    let claimed = moved(store, &action, executing(None), &Ledger::default()).await;
    let first = Ledger::new(vec![sent(1, Answer::Status(503))]);
    let waits = moved(store, &claimed, pending(1), &first).await;
    let State::Executing { claim, since, expires_at, last_failure, approvals, .. } = executing(Some("k"))
    else {
        panic!()
    };
    let again = State::Executing { attempt: 2, claim, since, expires_at, last_failure, approvals };
    let claimed = moved(store, &waits, again, &first).await;
    let noted = Ledger::new(vec![sent(1, Answer::Status(503)), sent(2, Answer::InDoubt)]);
    assert!(store.note(&claimed.proposal.tenant, claimed.id, 2, noted).await.unwrap());
    claimed
}

#[tokio::test]
async fn what_the_running_attempt_notes_is_no_finding() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    second_attempt(&store).await;
    assert_eq!(findings(&folder, &[]), [""; 0]);
    let executing = store.executing().await.unwrap();
    assert_eq!(executing[0].ledger.entries().len(), 2);
}

#[tokio::test]
async fn evidence_of_an_earlier_attempt_that_was_changed_is_found_and_nothing_is_settled() {
    for changed in [
        "'[]'",
        "''",
        "replace(ledger, '503', '200')",
        "replace(ledger, '\"attempt\":1', '\"attempt\":2')",
        "replace(ledger, '\"attempt\":2', '\"attempt\":1')",
        "replace(ledger, '\"attempt\":2', '\"attempt\":3')",
        "replace(ledger, '/refunds', '/refund')",
    ] {
        let folder = Folder::new();
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let claimed = second_attempt(&store).await;
        tamper(&folder, &format!("UPDATE actions SET ledger = {changed}"));
        assert_eq!(findings(&folder, &[]), ["1"], "{changed}");
        assert!(store.executing().await.unwrap().is_empty(), "{changed}: the next start leaves it");
        let told = store.load(&"acme".parse().unwrap(), id(1)).await;
        assert!(matches!(told, Err(StoreError::Changed { .. })), "{changed}: {told:?}");

        // By somebody who read it before.
        moved(&store, &claimed, pending(2), &Ledger::default()).await;
        assert_eq!(findings(&folder, &[]), ["1"], "{changed}: that hides nothing");
    }
}
