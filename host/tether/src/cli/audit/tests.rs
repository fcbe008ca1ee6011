use std::time::Duration;

use rusqlite::Connection;
use tether_core::action::{Arguments, Claim, Event, Preview, Proposal, Verdict};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::grant::{BoundComponent, DatabaseGrant, Grants};
use tether_core::id::ActionId;
use tether_core::identity::Actor;
use tether_core::json::JsonText;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{ActionStore, Change, NewAction, Proposed, Swap};
use tether_core::port::databases::{Begun, Rights, Work};
use tether_core::settlement;
use tether_store::SqliteActions;

use super::*;
use crate::scratch::Scratch;

const NOON: Timestamp = Timestamp::EPOCH;

fn id(number: u8) -> ActionId {
    ActionId::from_random([number; 16])
}

fn proposal() -> Proposal {
    let main = ("main".parse().unwrap(), DatabaseGrant::Own);
    Proposal {
        tenant: "acme".parse().unwrap(),
        proposer: "agent".parse().unwrap(),
        tool: "void_ticket".parse().unwrap(),
        arguments: Arguments::Kept(JsonText::parse("{\"ticket\":7}").unwrap()),
        binding: Binding::Component(BoundComponent {
            component: "tickets".parse().unwrap(),
            digest: Digest::of("bytes"),
            grants: Grants { databases: [main].into(), ..Grants::default() },
        }),
        preview: Preview::None,
        created_at: NOON,
        max_attempts: 3,
        people: 1,
    }
}

/// A gateway's folder in which one action was done, and one waits for a person.
struct Folder(Scratch);

impl Folder {
    async fn new() -> Self {
        let folder = Self(Scratch::new().unwrap());
        folder.fill().await;
        // The last one who closes a file takes its log into it.
        for file in ["actions.db-wal".to_owned(), format!("{MAIN}-wal")] {
            while folder.path().join(&file).exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        folder
    }

    async fn fill(&self) {
        let actions = SqliteActions::open(self.path().join("actions.db")).unwrap();
        let databases = SqliteDatabases::new(self.path(), SqlLimits::default());
        let _ = propose(&actions, 2).await;
        let action = propose(&actions, 1).await;
        let claim = Claim { by: "ann".parse().unwrap(), key: Some("k".parse().unwrap()) };
        let claimed = step(&actions, action, Event::Claimed { claim, at: NOON }, Ledger::default()).await;

        let Binding::Component(bound) = &claimed.proposal.binding else { panic!("it is a component") };
        let scope = Scope {
            tenant: claimed.proposal.tenant.clone(),
            component: bound.component.clone(),
            grants: bound.grants.clone(),
            migrations: Arc::default(),
        };
        let work =
            Work { rights: Rights::Write, key: claimed.id.into(), attempt: 1, time: Duration::from_secs(60) };
        let session = databases.session(scope, work);
        let connection = session.open("main".parse().unwrap()).await.unwrap();
        let Begun::Fresh(mut transaction) = connection.begin(None).await.unwrap() else { panic!("fresh") };
        transaction.execute("CREATE TABLE voided (ticket)".to_owned(), Vec::new()).await.unwrap();
        transaction.commit(JsonText::parse("{\"done\":1}").unwrap()).await.unwrap();

        let records = records(&databases, &claimed).await.unwrap();
        let verdict = Verdict::Succeeded(records[0].output.clone());
        let ledger = settlement::ledger(&records, &Ledger::default());
        let settled = Event::Settled { verdict, at: NOON, expires_after: Duration::ZERO };
        step(&actions, claimed, settled, ledger).await;
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Somebody who is not Tether changes a file.
    fn tamper(&self, file: &str, sql: &str) {
        Connection::open(self.path().join(file)).unwrap().execute_batch(sql).unwrap();
    }

    async fn findings(&self) -> Vec<String> {
        let mut told = Vec::new();
        let report = verify(self.path(), |line| told.push(line.in_words())).await.unwrap();
        assert_eq!((report.actions, report.findings.len()), (2, told.len()));
        told
    }
}

async fn propose(actions: &SqliteActions, number: u8) -> Action {
    let (id, proposal) = (id(number), proposal());
    let expires_at = NOON.after(Duration::from_secs(60));
    let Proposed::New(action) = actions
        .propose(NewAction { id, proposal, expires_at, key: None, channel: None, max_open: None })
        .await
        .unwrap()
    else {
        panic!("it is new")
    };
    action
}

async fn step(actions: &SqliteActions, action: Action, event: Event, ledger: Ledger) -> Action {
    let actor = match &event {
        Event::Claimed { claim, .. } => Some(Actor { user: claim.by.clone(), channel: None }),
        _ => None,
    };
    let change = Change {
        seen: action.clone(),
        state: action.next(event).unwrap(),
        ledger,
        actor,
        at: NOON,
        detail: String::new(),
    };
    match actions.swap(change).await.unwrap() {
        Swap::Done(action) => action,
        other => panic!("{other:?}"),
    }
}

const MAIN: &str = "databases/tickets/acme/main.db";

#[tokio::test]
async fn a_right_folder_is_well_and_stays_as_it_is() {
    let folder = Folder::new().await;
    let bytes = || ["actions.db", MAIN].map(|file| std::fs::read(folder.path().join(file)).unwrap());
    let before = bytes();
    assert_eq!(folder.findings().await, [""; 0]);
    assert!(before == bytes(), "nothing is written");
}

#[tokio::test]
async fn what_somebody_changed_is_found() {
    for (file, sql, part) in [
        (MAIN, "DELETE FROM tether_records", "and the database does not (end-agrees)"),
        (MAIN, "UPDATE tether_records SET output = '1'", "another than the recorded one (equal-results)"),
        (MAIN, "UPDATE tether_records SET attempt = 2", "attempt 2, which nobody confirmed (from-somewhere)"),
        ("actions.db", "UPDATE actions SET arguments = '{}' WHERE status = 'Pending'", "(readable)"),
        ("actions.db", "DELETE FROM history WHERE became = 'Executing'", "(transitions)"),
        ("actions.db", "DELETE FROM confirm_keys", "names no action (keys)"),
        (
            "actions.db",
            "UPDATE actions SET status = 'Pending', attempts = 0, expires_at = 9, output = NULL \
             WHERE status = 'Succeeded'",
            "recorded what it did, and the action is Pending (recorded)",
        ),
    ] {
        let folder = Folder::new().await;
        folder.tamper(file, sql);
        let told = folder.findings().await;
        assert!(told.iter().any(|line| line.contains(part)), "{sql}: {told:?}");
    }
}

#[tokio::test]
async fn a_database_that_is_gone_is_a_finding() {
    let folder = Folder::new().await;
    std::fs::remove_file(folder.path().join(MAIN)).unwrap();
    let told = folder.findings().await;
    assert!(told.len() == 2 && told.iter().all(|line| line.contains("(readable)")), "{told:?}");
}

#[tokio::test]
async fn a_folder_that_is_in_use_or_none_is_refused() {
    let folder = Folder::new().await;
    let held = DataFolder::take(folder.path()).unwrap();
    let error = verify(folder.path(), |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("is in use by another tether"), "{error}");
    drop(held);
    let nowhere = folder.path().join("nowhere");
    let error = verify(&nowhere, |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("is no data folder") && !nowhere.exists(), "{error}");
}
