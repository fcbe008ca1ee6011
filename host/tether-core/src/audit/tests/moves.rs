//! Moves and attempts, each with its history.

use super::*;

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
