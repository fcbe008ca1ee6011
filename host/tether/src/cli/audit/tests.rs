mod bad_text;
mod exports;
mod whole_files;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tether_core::action::{Action, Arguments, Claim, Event, Preview, Proposal, Verdict};
use tether_core::chain::Head;
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundComponent, DatabaseGrant, Grants};
use tether_core::id::ActionId;
use tether_core::identity::Actor;
use tether_core::json::JsonText;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{ActionStore, Change, NewAction, Proposed, Swap};
use tether_core::port::databases::{Begun, Databases as _, Rights, Scope, SqlLimits, Work};
use tether_core::settlement;
use tether_store::{SqliteActions, SqliteDatabases};

use super::verify::{Report, records_of, verify};
use super::*;
use crate::data_folder::DataFolder;
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

        let records = records_of(&databases, &claimed).await.unwrap();
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
        let report = self.verify(Vec::new(), None, &mut told).await;
        assert_eq!((report.actions, report.findings.len()), (2, told.len()));
        told
    }

    async fn verify(&self, heads: Vec<Head>, export: Option<&Path>, told: &mut Vec<String>) -> Report {
        verify(self.path(), heads, export, |line| told.push(line.in_words())).await.unwrap()
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
async fn a_key_that_nobody_confirmed_with_and_one_that_is_gone_are_found() {
    let [added, gone] = ["with which nobody confirmed it (keys)", "no longer bound to it (keys)"];
    for (sql, parts) in [
        ("INSERT INTO confirm_keys VALUES ('acme', 'ann', 'new', 2)", &[added][..]),
        ("INSERT INTO confirm_keys VALUES ('acme', 'ann', 'new', 1)", &[added]),
        ("INSERT INTO confirm_keys VALUES ('acme', 'bob', 'k', 2)", &[added]),
        ("INSERT INTO confirm_keys VALUES ('umbrella', 'ann', 'k', 2)", &[added]),
        ("UPDATE confirm_keys SET key = 'l'", &[added, gone]),
        ("UPDATE confirm_keys SET person = 'bob'", &[added, gone]),
        ("UPDATE confirm_keys SET tenant = 'umbrella'", &[added, gone]),
        ("UPDATE confirm_keys SET action = 1", &[added, gone]),
        ("DELETE FROM confirm_keys", &[gone]),
        ("PRAGMA foreign_keys = off; UPDATE confirm_keys SET action = 9", &["its action is not there", gone]),
        ("UPDATE confirm_keys SET person = ' '", &["a bound key holds what was never written", gone]),
    ] {
        let folder = Folder::new().await;
        folder.tamper("actions.db", sql);
        let told = folder.findings().await;
        for part in parts {
            assert!(told.iter().any(|line| line.contains(part)), "{sql}: {part:?} in {told:#?}");
        }
    }
    // Also of an attempt of which the action's row tells nothing any more.
    let folder = Folder::new().await;
    let actions = SqliteActions::open(folder.path().join("actions.db")).unwrap();
    let claim = Claim { by: "ann".parse().unwrap(), key: Some("l".parse().unwrap()) };
    let waiting = actions.load(&"acme".parse().unwrap(), id(2)).await.unwrap().unwrap();
    let claimed = step(&actions, waiting, Event::Claimed { claim, at: NOON }, Ledger::default()).await;
    let verdict = Verdict::Failed(Failure::new(Cause::TimedOut, "it took too long"));
    let failed = Event::Settled { verdict, at: NOON, expires_after: Duration::from_secs(60) };
    step(&actions, claimed, failed, Ledger::default()).await;
    drop(actions);
    assert_eq!(folder.findings().await, [""; 0]);
    folder.tamper("actions.db", "UPDATE confirm_keys SET key = 'm' WHERE key = 'l'");
    let told = folder.findings().await;
    assert!(told.len() == 2 && told[0].contains(added) && told[1].contains(gone), "{told:#?}");
}

#[tokio::test]
async fn records_that_should_be_emptied_and_are_not_to_be_are_found() {
    let kept = "are to be emptied, and no result of it was erased (end-agrees)";
    let folder = Folder::new().await;
    folder.tamper("actions.db", "UPDATE actions SET records_due = 9 WHERE status = 'Succeeded'");
    let told = folder.findings().await;
    assert!(told.len() == 1 && told[0].contains(kept), "{told:?}");

    let erased = Folder::new().await;
    let later = NOON.after(Duration::from_secs(1));
    let actions = SqliteActions::open(erased.path().join("actions.db")).unwrap();
    actions.erase_outputs(later, later, None, 9).await.unwrap();
    drop(actions);
    assert_eq!(erased.findings().await, [""; 0]);
    for (due, part) in [
        ("NULL", "its records hold it, and are not to be emptied (end-agrees)"),
        ("9e15", "are to be emptied only after days (end-agrees)"),
    ] {
        erased.tamper(
            "actions.db",
            &format!("UPDATE actions SET records_due = CAST({due} AS INTEGER) WHERE output_digest <> ''"),
        );
        let told = erased.findings().await;
        assert!(told.len() == 1 && told[0].contains(part), "{due}: {told:?}");
    }
    erased.tamper("actions.db", "UPDATE actions SET records_due = NULL");
    erased.tamper(MAIN, "UPDATE tether_records SET output = NULL");
    assert_eq!(erased.findings().await, [""; 0], "they are empty");
}

#[tokio::test]
async fn what_a_killed_gateway_left_executing_is_said_to_be_settled_by_the_next_start() {
    let folder = Folder::new().await;
    let report = folder.verify(Vec::new(), None, &mut Vec::new()).await;
    assert!(report.note().is_none() && !report.in_words().contains("note:"), "{report:?}");

    let actions = SqliteActions::open(folder.path().join("actions.db")).unwrap();
    let claim = Claim { by: "ann".parse().unwrap(), key: None };
    let waiting = actions.load(&"acme".parse().unwrap(), id(2)).await.unwrap().unwrap();
    step(&actions, waiting, Event::Claimed { claim, at: NOON }, Ledger::default()).await;
    drop(actions);
    let elsewhere = Scratch::new().unwrap();
    let kept = elsewhere.path().join("kept.jsonl");
    let report = folder.verify(Vec::new(), Some(&kept), &mut Vec::new()).await;
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.lines().last().unwrap().contains("\"to\":\"Executing\""), "{text}");
    let words = report.in_words();
    let note = "note: 1 action is executing, as the gateway left it. The next start settles what it came to";
    assert!(words.contains("all is well") && words.lines().last().unwrap().starts_with(note), "{words}");
    let told: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    assert!(told["executing"] == 1 && told["note"].as_str().unwrap().starts_with(&note[6..]), "{told}");
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
    let error = verify(folder.path(), Vec::new(), None, |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("is in use by another tether"), "{error}");
    drop(held);
    let nowhere = folder.path().join("nowhere");
    let error = verify(&nowhere, Vec::new(), None, |_| {}).await.unwrap_err().to_string();
    assert!(error.contains("is no data folder") && !nowhere.exists(), "{error}");
}

#[tokio::test]
async fn a_broken_history_is_told_with_its_place() {
    for (sql, part) in [
        (
            "UPDATE history SET detail = '?' WHERE became = 'Executing'",
            "the history of acme, place 3, action 01010101010101010101010101010101: the event",
        ),
        (
            "UPDATE actions SET preview_kind = 'text', preview = 'x' WHERE attempts = 0",
            "another than its history says",
        ),
        ("UPDATE chain_heads SET place = 9", "the history of acme, place 4: the history ends at place 4"),
        ("UPDATE history SET became = 'Gone' WHERE became = 'Executing'", "the histories: event 3 holds"),
    ] {
        let folder = Folder::new().await;
        folder.tamper("actions.db", sql);
        let mut told = Vec::new();
        folder.verify(Vec::new(), None, &mut told).await;
        let found = told.iter().any(|line| line.contains(part) && line.ends_with("(chain)"));
        assert!(found, "{sql}: {told:#?}");
    }
}

#[tokio::test]
async fn what_is_exported_is_enough_to_find_what_was_cut_later() {
    let folder = Folder::new().await;
    let elsewhere = Scratch::new().unwrap();
    let kept = elsewhere.path().join("kept.jsonl");
    let report = folder.verify(Vec::new(), Some(&kept), &mut Vec::new()).await;
    let text = std::fs::read_to_string(&kept).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((report.events, lines.len()), (4, 4));
    let names: Vec<_> = lines[0].as_object().unwrap().keys().cloned().collect();
    let expected = "tenant place actionId revision at actor channel from to attempt detail proposal state \
                    confirmKey hash";
    for name in expected.split(' ') {
        assert!(names.contains(&name.to_owned()), "{name} is missing in {names:?}");
    }
    assert_eq!(names.len(), 15, "no number that tells of other tenants: {names:?}");
    assert_eq!((&lines[3]["place"], &lines[3]["to"]), (&4.into(), &"Succeeded".into()));

    let keys: Vec<_> = lines.iter().map(|line| line["confirmKey"].as_str()).collect();
    assert_eq!(keys, [None, None, Some(&*Digest::of("k").to_string()), None]);

    let heads = heads::read(&kept).unwrap();
    assert_eq!(heads, report.heads);
    let mut told = Vec::new();
    folder.verify(heads.clone(), None, &mut told).await;
    assert_eq!(told, [""; 0]);

    // Everything after the claim is gone, and the rest fits.
    folder.tamper(
        "actions.db",
        "DELETE FROM history WHERE became = 'Succeeded';
         UPDATE chain_heads SET place = 3, hash = (SELECT hash FROM history WHERE place = 3)",
    );
    folder.verify(heads, None, &mut told).await;
    assert!(
        told[0].starts_with("the history of acme, place 4: the event that was kept elsewhere"),
        "{told:#?}"
    );
}

#[test]
fn heads_are_read_from_an_export_from_a_report_and_from_lines() {
    let folder = Scratch::new().unwrap();
    let path = folder.path().join("heads");
    let hash = Digest::of("x");
    let read = |text: String| {
        std::fs::write(&path, text).unwrap();
        heads::read(&path).map_err(|error| format!("{error:#}"))
    };
    let head = |tenant: &str, place| Head { tenant: tenant.parse().unwrap(), place, hash };
    let line = |tenant, place| heads::json(&head(tenant, place)).to_string();
    let lines = [line("a", 3), line("a", 7), line("b", 2), line("a", 5)].join("\n");
    assert_eq!(read(lines).unwrap(), [head("a", 7), head("b", 2)], "the last of each");
    let report = format!(r#"{{"events":9,"heads":[{},{}],"findings":[]}}"#, line("a", 7), line("b", 2));
    assert_eq!(read(report).unwrap(), [head("a", 7), head("b", 2)]);
    assert!(read("{\"tenant\":\"a\"}".to_owned()).unwrap_err().contains("line 1 is no head"));
    assert!(read(String::new()).unwrap_err().contains("there are none"));
}
