//! Good histories, and the same with one planted fault of each kind.

mod people;

use super::*;
use crate::action::{Approval, Arguments, Output, Preview, Proposal, Revision, Status};
use crate::clock::Timestamp;
use crate::failure::{Cause, Failure};
use crate::grant::{Binding, BoundEndpoint};
use crate::identity::Actor;
use crate::ledger::{Answer, Entry, Fact, Ledger, Request};

const AT: Timestamp = Timestamp::EPOCH;

fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn ann() -> Claim {
    Claim { by: "ann".parse().unwrap(), key: Some("k".parse().unwrap()) }
}

fn event(from: Option<Status>, to: Status, attempt: u32, actor: &str) -> HistoryEvent {
    HistoryEvent { at: AT, actor: by(actor), from, to, attempt, detail: String::new() }
}

fn by(user: &str) -> Option<Actor> {
    (!user.is_empty()).then(|| Actor { user: user.parse().unwrap(), channel: None })
}

fn record(step: Option<&str>, attempt: u32) -> Record {
    Record {
        database: "main".parse().unwrap(),
        step: step.map(|step| step.parse().unwrap()),
        attempt,
        at: AT,
        output: json("1"),
        statements: vec!["INSERT".to_owned()],
    }
}

fn committed(record: &Record) -> Entry {
    let Record { database, step, attempt, statements, .. } = record.clone();
    Entry { at: AT, attempt, fact: Fact::Committed { database, step, statements } }
}

fn sent(attempt: u32, answer: Answer) -> Entry {
    let request = Request {
        method: "POST".parse().unwrap(),
        origin: "https://api.test".to_owned(),
        path: "/refunds".to_owned(),
        step: None,
    };
    Entry { at: AT, attempt, fact: Fact::Sent { request, answer } }
}

fn told(attempts_used: u32, word: Word) -> Seen {
    Seen::Told { attempts_used, word }
}

fn done(text: &str) -> Word {
    Word::Done(json(text))
}

fn case(id: u8, state: State, history: Vec<HistoryEvent>, ledger: Vec<Entry>) -> Case {
    let id = ActionId::from_random([id; 16]);
    let proposal = Proposal {
        tenant: "acme".parse().unwrap(),
        proposer: "agent".parse().unwrap(),
        tool: "refund".parse().unwrap(),
        arguments: Arguments::Kept(JsonText::empty_object()),
        binding: Binding::Endpoint(BoundEndpoint { url: String::new(), definition: Digest::of("") }),
        preview: Preview::None,
        created_at: AT,
        max_attempts: 3,
        people: 1,
    };
    let revision = Revision(history.len() as u64);
    let action = Action { id, revision, proposal, state, ledger: Ledger::new(ledger) };
    Case { action, history, records: Ok(Vec::new()), key_names: None, seen: None }
}

/// Proposed; attempt 1 sent, committed a step and failed; attempt 2 did it, which ann
/// and then bob were told.
fn retried() -> Case {
    use Status::{Executing, Pending, Succeeded};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "bob"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Executing, 2, "ann"),
        event(Some(Executing), Succeeded, 2, ""),
    ];
    let records = vec![record(Some("a"), 1), record(None, 2)];
    let ledger = vec![sent(1, Answer::Status(200)), committed(&records[0]), committed(&records[1])];
    let output = Output::Kept(json("1"));
    let state = State::Succeeded { attempts_used: 2, claim: ann(), at: AT, output, approvals: Vec::new() };
    let case = case(1, state, history, ledger);
    let seen = vec![
        Seen::Began { attempt: 1 },
        Seen::Arrived { attempt: 1 },
        Seen::Committed { attempt: 1, step: Some("a".parse().unwrap()) },
        Seen::Ended { attempt: 1, done: false },
        told(1, Word::Failed(Some(Effect::Applied))),
        Seen::Began { attempt: 2 },
        Seen::Committed { attempt: 2, step: None },
        Seen::Ended { attempt: 2, done: false },
        told(2, done("1")),
        told(2, Word::DoneBefore(json("1"))),
    ];
    Case { records: Ok(records), key_names: Some(case.action.id), seen: Some(seen), ..case }
}

/// Attempt 1 failed without any effect, and a person declined it then.
fn declined() -> Case {
    use Status::{Declined, Executing, Pending};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "ann"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Declined, 1, "bob"),
    ];
    let state = State::Declined { attempts_used: 1, at: AT, by: "bob".parse().unwrap(), reason: None };
    let seen = vec![Seen::Began { attempt: 1 }, Seen::Died, told(1, Word::Failed(Some(Effect::None)))];
    Case { seen: Some(seen), ..case(2, state, history, vec![]) }
}

/// A handler without a database did it.
fn sent_only() -> Case {
    use Status::{Executing, Pending, Succeeded};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "ann"),
        event(Some(Executing), Succeeded, 1, ""),
    ];
    let (claim, output) = (Claim { key: None, ..ann() }, Output::Kept(json("2")));
    let state = State::Succeeded { attempts_used: 1, claim, at: AT, output, approvals: Vec::new() };
    let seen = vec![
        Seen::Began { attempt: 1 },
        Seen::Arrived { attempt: 1 },
        Seen::Ended { attempt: 1, done: true },
        told(1, done("2")),
    ];
    Case { seen: Some(seen), ..case(3, state, history, vec![sent(1, Answer::Status(200))]) }
}

/// An attempt that recorded what it did, and was interrupted before its end was written.
fn interrupted() -> Case {
    use Status::{Executing, Pending};
    let history = vec![event(None, Pending, 0, "agent"), event(Some(Pending), Executing, 1, "ann")];
    let state = State::Executing {
        attempt: 1,
        claim: ann(),
        since: AT,
        expires_at: AT,
        last_failure: None,
        approvals: Vec::new(),
    };
    let case = case(4, state, history, vec![]);
    Case { records: Ok(vec![record(None, 1)]), key_names: Some(case.action.id), ..case }
}

fn expired() -> Case {
    use Status::{Expired, Pending};
    let history = vec![event(None, Pending, 0, "agent"), event(Some(Pending), Expired, 0, "")];
    case(5, State::Expired { attempts_used: 0, at: AT }, history, vec![])
}

/// It takes two: bob and cat began attempt 1, which failed; bob and ann attempt 2.
fn of_two() -> Case {
    use Status::{Executing, Pending};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Pending, 0, "bob"),
        event(Some(Pending), Executing, 1, "cat"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Pending, 1, "bob"),
        event(Some(Pending), Executing, 2, "ann"),
    ];
    let bob = Approval { claim: Claim { by: "bob".parse().unwrap(), key: None }, at: AT };
    let state = State::Executing {
        attempt: 2,
        claim: Claim { key: None, ..ann() },
        since: AT,
        expires_at: AT,
        last_failure: None,
        approvals: vec![bob],
    };
    let mut case = case(6, state, history, vec![]);
    case.action.proposal.people = 2;
    case
}

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
fn no_attempt_runs_beside_another() {
    let ran = |case: &mut Case| drop(seen(case).remove(3));
    check(retried(), ran, Rule::OneAttempt, "attempt 2 began while attempt 1 ran");
    let late = |case: &mut Case| {
        let commit = seen(case).remove(2);
        seen(case).insert(5, commit);
    };
    check(retried(), late, Rule::OneAttempt, "attempt 1 committed when attempt 2 had begun");
    let late = |case: &mut Case| {
        let request = seen(case).remove(1);
        seen(case).insert(5, request);
    };
    check(retried(), late, Rule::OneAttempt, "attempt 1 sent a request when attempt 2 had begun");
    let claimed = |case: &mut Case| {
        case.history.remove(2);
        case.history[2].from = Some(Status::Executing);
        case.action.revision = Revision(4);
    };
    check(retried(), claimed, Rule::OneAttempt, "attempt 2 was claimed while attempt 1 was executing");
}

#[test]
fn it_moves_as_it_may_and_every_move_is_told() {
    let skipped = |case: &mut Case| {
        case.history[3] = event(Some(Status::Pending), Status::Failed, 1, "");
        let failure = Failure::new(Cause::Failed, "");
        case.action.state = State::Failed { attempts_used: 1, at: AT, failure };
    };
    check(
        declined(),
        skipped,
        Rule::Transitions,
        "from Pending to Failed in attempt 1, which nothing leads to",
    );
    let torn = |case: &mut Case| case.history[4].from = Some(Status::Pending);
    check(
        retried(),
        torn,
        Rule::Transitions,
        "it was Executing, and the next event says that it was Pending",
    );
    let after_the_end = |case: &mut Case| {
        case.history.push(event(Some(Status::Expired), Status::Declined, 0, "ann"));
        case.action.revision = Revision(3);
        let by = "ann".parse().unwrap();
        case.action.state = State::Declined { attempts_used: 0, at: AT, by, reason: None };
    };
    check(expired(), after_the_end, Rule::Transitions, "from Expired to Declined");
    let vanished = |case: &mut Case| {
        let State::Succeeded { output, .. } = &mut case.action.state else { unreachable!() };
        *output = Output::Erased;
    };
    check(retried(), vanished, Rule::Transitions, "1 of its texts are erased, and its history tells of 0");
    let untold = |case: &mut Case| case.action.revision = Revision(9);
    check(retried(), untold, Rule::Transitions, "changed 9 times, and its history tells of 5");
    let stranger = |case: &mut Case| case.history[0].actor = by("eve");
    check(retried(), stranger, Rule::Transitions, "does not begin with its proposer's proposal");
}

#[test]
fn attempts_count_without_gaps_and_are_not_too_many() {
    let gap = |case: &mut Case| {
        case.seen = None;
        case.history[3].attempt = 3;
        case.history[4].attempt = 3;
        let State::Succeeded { attempts_used, .. } = &mut case.action.state else { unreachable!() };
        *attempts_used = 3;
        records(case)[1].attempt = 3;
        let ledger = [committed(&record(Some("a"), 1)), committed(&record(None, 3))];
        case.action.ledger = Ledger::new(ledger.into());
    };
    check(retried(), gap, Rule::Attempts, "attempt 3 was claimed when 1 had been");
    let many = |case: &mut Case| case.action.proposal.max_attempts = 0;
    check(declined(), many, Rule::Attempts, "attempt 1 was claimed, and it may have 0");
    let twice = |case: &mut Case| {
        seen(case).insert(4, Seen::Began { attempt: 1 });
        seen(case).insert(5, Seen::Died);
    };
    check(retried(), twice, Rule::Attempts, "attempt 1 ran twice");
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
fn nothing_comes_from_nowhere() {
    use Rule::FromSomewhere;
    let unclaimed = |case: &mut Case| {
        let record = record(Some("b"), 2);
        case.action.ledger = Ledger::new(vec![committed(&record)]);
        case.seen = None;
        records(case).push(record);
    };
    check(
        declined(),
        unclaimed,
        FromSomewhere,
        "step \"b\" in `main` is of attempt 2, which nobody confirmed",
    );
    let request = |case: &mut Case| case.action.ledger = Ledger::new(vec![sent(1, Answer::InDoubt)]);
    check(expired(), request, FromSomewhere, "its ledger tells of attempt 1, which nobody confirmed");
    let ran = |case: &mut Case| {
        seen(case).push(Seen::Began { attempt: 2 });
        seen(case).push(Seen::Died);
    };
    check(declined(), ran, FromSomewhere, "attempt 2 ran, and nobody confirmed it");
    let unnoted = |case: &mut Case| seen(case).insert(1, Seen::Arrived { attempt: 1 });
    check(retried(), unnoted, FromSomewhere, "2 requests of attempt 1 arrived, and 1 are noted");
    let invented = |case: &mut Case| {
        seen(case)[2] = Seen::Died;
        seen(case).remove(4);
    };
    check(retried(), invented, FromSomewhere, "a record of attempt 1, which never committed it");
    let never_ran = |case: &mut Case| drop(seen(case).drain(..1));
    check(sent_only(), never_ran, FromSomewhere, "attempt 1 sent a request, and never ran");
    let by_nobody = |case: &mut Case| case.history[1].actor = None;
    check(declined(), by_nobody, FromSomewhere, "it became Executing by nobody");
    let by_somebody = |case: &mut Case| case.history[1].actor = by("ann");
    check(expired(), by_somebody, FromSomewhere, "it became Expired by a person");
    let no_history = |case: &mut Case| case.history.clear();
    check(expired(), no_history, FromSomewhere, "its history is empty");
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

#[test]
fn every_rule_has_a_word_of_its_own() {
    let words: std::collections::HashSet<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(words.len(), Rule::ALL.len());
}
