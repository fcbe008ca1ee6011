//! Good histories, and the same with one planted fault of each kind.

mod given;
mod keys;
mod moves;
mod people;
mod results;

use super::*;
use crate::action::{Arguments, Output, Revision, Status};
use crate::failure::{Cause, Failure};
use crate::ledger::{Answer, Ledger};
use given::*;

#[test]
fn a_right_history_has_no_findings() {
    for case in [retried(), declined(), sent_only(), interrupted(), expired(), of_two()] {
        assert_eq!(Auditor::default().check(&case), [], "{case:?}");
    }
    let erased = {
        let mut case = retried();
        for _ in 0..2 {
            case.history.push(event(Some(Status::Succeeded), Status::Succeeded, 2, ""));
        }
        case.action.revision = Revision(7);
        case.action.proposal.arguments = Arguments::Erased(Digest::of("{}"));
        let State::Succeeded { output, .. } = &mut case.action.state else { unreachable!() };
        *output = Output::Erased;
        case.records.as_mut().unwrap().iter_mut().for_each(|record| record.output = json("null"));
        case
    };
    assert_eq!(Auditor::default().check(&erased), [], "its retention is over");
}

/// Plants one fault into a right history; exactly this is found.
#[track_caller]
fn check(mut case: Case, plant: impl FnOnce(&mut Case), rule: Rule, part: &str) {
    plant(&mut case);
    let found = Auditor::default().check(&case);
    let this = |finding: &&Finding| finding.rule == rule && finding.to_string().contains(part);
    assert!(found.iter().any(|finding| this(&finding)), "{rule:?} {part:?}: {found:#?}");
    assert!(found.iter().all(|finding| finding.rule == rule), "nothing else: {found:#?}");
}

fn seen(case: &mut Case) -> &mut Vec<Seen> {
    case.seen.as_mut().unwrap()
}

fn records(case: &mut Case) -> &mut Vec<Record> {
    case.records.as_mut().unwrap()
}

#[test]
fn a_key_names_one_action() {
    let taken = |case: &mut Case| case.key_names = Some(ActionId::from_random([9; 16]));
    check(retried(), taken, Rule::Keys, "the key that claimed it names action 0909");
    let lost = |case: &mut Case| case.key_names = None;
    check(retried(), lost, Rule::Keys, "names no action");

    let mut auditor = Auditor::default();
    assert_eq!(auditor.check(&retried()), []);
    let found = auditor.check(&interrupted());
    let [Finding { rule: Rule::Keys, what, .. }] = &found[..] else { panic!("{found:?}") };
    assert!(what.contains("claimed action 0101"), "{what}");
}

#[test]
fn every_rule_has_a_word_of_its_own() {
    let words: std::collections::HashSet<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(words.len(), Rule::ALL.len());
}
