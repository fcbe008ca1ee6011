//! Whether action, ledger and records say the same.

use std::collections::BTreeSet;

use super::{Case, Findings, Rule};
use crate::action::{Action, Output, State, Status};
use crate::id::{DatabaseName, StepName};
use crate::ledger::Fact;
use crate::port::databases::Record;

/// What a record and a ledger's entry about it have in common.
type Commit<'a> = (&'a DatabaseName, Option<&'a StepName>, u32, &'a [String]);

pub(super) fn check(case: &Case, claimed: &BTreeSet<u32>, findings: &mut Findings) {
    check_ledger(&case.action, claimed, findings);
    let records = match &case.records {
        Ok(records) => records,
        Err(unreachable) => {
            findings.add(Rule::Readable, format!("nobody can tell what it did: {unreachable}"));
            return;
        }
    };
    check_origin(records, claimed, findings);
    check_main(&case.action, records, findings);
    check_agreement(&case.action, records, findings);
}

/// Every entry is of an attempt that somebody confirmed.
fn check_ledger(action: &Action, claimed: &BTreeSet<u32>, findings: &mut Findings) {
    for entry in action.ledger.entries() {
        if !claimed.contains(&entry.attempt) {
            let what = format!("its ledger tells of attempt {}, which nobody confirmed", entry.attempt);
            findings.add(Rule::FromSomewhere, what);
        }
    }
}

/// Every record is of an attempt that somebody confirmed, and there is one of each.
fn check_origin(records: &[Record], claimed: &BTreeSet<u32>, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for record in records {
        let name = named(&record.database, record.step.as_ref());
        if !claimed.contains(&record.attempt) {
            let what = format!("{name} is of attempt {}, which nobody confirmed", record.attempt);
            findings.add(Rule::FromSomewhere, what);
        }
        if !names.insert((&record.database, &record.step)) {
            findings.add(Rule::OneEffect, format!("{name} is there twice"));
        }
    }
}

/// The main record decides.
fn check_main(action: &Action, records: &[Record], findings: &mut Findings) {
    let mut mains = records.iter().filter(|record| record.step.is_none());
    let Some(main) = mains.next() else { return };
    if let Some(second) = mains.find(|second| second.database != main.database) {
        let (one, other) = (&main.database, &second.database);
        findings.add(Rule::OneEffect, format!("it has a main record in `{one}` and one in `{other}`"));
    }
    let (status, attempt, used) = (action.state.status(), main.attempt, action.state.attempts_used());
    if !matches!(status, Status::Executing | Status::Succeeded) {
        let what = format!("attempt {attempt} recorded what it did, and the action is {}", status.as_str());
        findings.add(Rule::Recorded, what);
    } else if used > attempt {
        let what = format!("attempt {attempt} recorded what it did, and attempt {used} was begun after it");
        findings.add(Rule::Recorded, what);
    }
    if let State::Succeeded { output: Output::Kept(output), .. } = &action.state
        && *output != main.output
    {
        findings.add(Rule::EqualResults, "its stored result is another than the recorded one");
    }
}

/// The ledger holds the records, all of them once the attempt is settled.
fn check_agreement(action: &Action, records: &[Record], findings: &mut Findings) {
    let recorded: BTreeSet<Commit<'_>> = records.iter().map(commit).collect();
    let told: BTreeSet<Commit<'_>> = action
        .ledger
        .entries()
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::Committed { database, step, statements } => {
                Some((database, step.as_ref(), entry.attempt, &statements[..]))
            }
            Fact::Sent { .. } => None,
        })
        .collect();
    for (database, step, attempt, _) in told.difference(&recorded) {
        let name = named(database, *step);
        let what = format!("its ledger tells of {name} of attempt {attempt}, and the database does not");
        findings.add(Rule::EndAgrees, what);
    }
    // Of an attempt that is not settled yet, the ledger knows nothing.
    if action.state.status() != Status::Executing {
        for (database, step, attempt, _) in recorded.difference(&told) {
            let name = named(database, *step);
            let what = format!("there is {name} of attempt {attempt}, and its ledger does not tell of it");
            findings.add(Rule::EndAgrees, what);
        }
    }
}

fn commit(record: &Record) -> Commit<'_> {
    let Record { database, step, attempt, statements, .. } = record;
    (database, step.as_ref(), *attempt, &statements[..])
}

fn named(database: &DatabaseName, step: Option<&StepName>) -> String {
    match step {
        Some(step) => format!("the record of step {:?} in `{database}`", step.as_str()),
        None => format!("the main record in `{database}`"),
    }
}
