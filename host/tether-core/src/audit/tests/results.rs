//! Effects and results, and what was told of them.

use super::*;

#[test]
fn one_effect_at_most() {
    let twice = |case: &mut Case| seen(case).insert(7, Seen::Committed { attempt: 2, step: None });
    check(retried(), twice, Rule::OneEffect, "attempt 2 committed it a second time");
    let told_twice = |case: &mut Case| seen(case).push(told(2, done("1")));
    check(retried(), told_twice, Rule::OneEffect, "two confirmations were told that they did it");
    let second_record = |case: &mut Case| {
        case.seen = None;
        let record = Record { database: "crm".parse().unwrap(), ..record(None, 2) };
        let ledger = case.action.ledger.entries().iter().cloned().chain([committed(&record)]).collect();
        case.action.ledger = Ledger::new(ledger);
        records(case).push(record);
    };
    check(retried(), second_record, Rule::OneEffect, "a main record in `main` and one in `crm`");
    let same_step = |case: &mut Case| records(case).push(record(Some("a"), 1));
    check(retried(), same_step, Rule::OneEffect, "step \"a\" in `main` is there twice");
}

#[test]
fn a_success_is_recorded_and_what_is_recorded_is_a_success() {
    let pretended = |case: &mut Case| seen(case)[2] = Seen::Ended { attempt: 1, done: false };
    check(sent_only(), pretended, Rule::Recorded, "told that it is done, and nothing was recorded");
    let untold = |case: &mut Case| {
        seen(case)[2] = Seen::Died;
        seen(case).pop();
    };
    check(sent_only(), untold, Rule::Recorded, "stored as succeeded, and nothing was recorded");
    let failed_after = |case: &mut Case| seen(case).push(told(3, Word::Failed(Some(Effect::Applied))));
    check(retried(), failed_after, Rule::Recorded, "after another that it was done");
    let told_failed = |case: &mut Case| seen(case)[8] = told(2, Word::Failed(Some(Effect::Applied)));
    check(retried(), told_failed, Rule::Recorded, "a failure of attempt 2 was told");

    let lost = |case: &mut Case| {
        case.seen = None;
        case.action.ledger = Ledger::new(vec![committed(&record(None, 1))]);
        records(case).push(record(None, 1));
    };
    check(declined(), lost, Rule::Recorded, "attempt 1 recorded what it did, and the action is Declined");
    let went_on = |case: &mut Case| {
        case.seen = None;
        let main = record(None, 1);
        case.action.ledger = Ledger::new(vec![committed(&main)]);
        *records(case) = vec![main];
    };
    check(retried(), went_on, Rule::Recorded, "attempt 2 was begun after it");
}

#[test]
fn all_results_are_equal() {
    let other = |case: &mut Case| seen(case)[9] = told(2, Word::DoneBefore(json("1.0")));
    check(retried(), other, Rule::EqualResults, "two were told different results");
    let stored = |case: &mut Case| {
        case.seen = None;
        records(case)[1].output = json("7");
    };
    check(retried(), stored, Rule::EqualResults, "another than the recorded one");
}

#[test]
fn what_is_told_of_the_effect_is_true() {
    let word = |effect| told(1, Word::Failed(Some(effect)));
    let none = |case: &mut Case| seen(case)[4] = word(Effect::None);
    check(retried(), none, Rule::Effect, "after attempt 1: no effect was told, and there was one");
    let applied = |case: &mut Case| seen(case)[2] = word(Effect::Applied);
    check(declined(), applied, Rule::Effect, "an effect was told, and nothing was committed");
    let unknown = |case: &mut Case| seen(case)[4] = word(Effect::Unknown);
    let mut case = retried();
    unknown(&mut case);
    assert_eq!(Auditor::default().check(&case), [], "who knows nothing says nothing wrong");
}

#[test]
fn the_end_agrees_with_history_and_records() {
    let state = |case: &mut Case| case.action.state = State::Expired { attempts_used: 1, at: AT };
    check(
        declined(),
        state,
        Rule::EndAgrees,
        "stored as Expired after 1 attempts, and its history ends as Declined",
    );
    let claimer = |case: &mut Case| case.history[3].actor = by("bob");
    check(retried(), claimer, Rule::EndAgrees, "its claim is of somebody else");
    let approver = |case: &mut Case| {
        let State::Executing { approvals, .. } = &mut case.action.state else { unreachable!() };
        approvals[0].claim.by = "cat".parse().unwrap();
    };
    check(of_two(), approver, Rule::EndAgrees, "its approvals are others");
    let lost = |case: &mut Case| {
        case.seen = None;
        records(case).remove(0);
    };
    check(retried(), lost, Rule::EndAgrees, "its ledger tells of the record of step \"a\" in `main`");
    let silent = |case: &mut Case| {
        let told = case.action.ledger.entries().to_vec();
        let told = told.into_iter().filter(|entry| *entry != committed(&record(Some("a"), 1)));
        case.action.ledger = Ledger::new(told.collect());
    };
    check(retried(), silent, Rule::EndAgrees, "and its ledger does not tell of it");
    let unrecorded = |case: &mut Case| {
        seen(case).insert(2, Seen::Committed { attempt: 1, step: Some("b".parse().unwrap()) });
    };
    check(retried(), unrecorded, Rule::EndAgrees, "attempt 1 committed, and there is no record of it");
}

#[test]
fn what_cannot_be_read_is_not_well() {
    let away = |case: &mut Case| case.records = Err(Unreachable("database `main`: gone".to_owned()));
    check(retried(), away, Rule::Readable, "nobody can tell what it did");
}
