//! Whether the history is one that an action can have, and leads to where it stands.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Case, Findings, Rule, claim, people};
use crate::action::{Action, Approval, Arguments, Claim, Event, Output, State, Status, Verdict};
use crate::clock::Timestamp;
use crate::failure::{Cause, Failure};
use crate::json::JsonText;
use crate::port::actions::HistoryEvent;

/// The attempts that somebody confirmed.
pub(super) fn check(case: &Case, findings: &mut Findings) -> BTreeSet<u32> {
    let claims = case.history.iter().filter(|event| event.to == Status::Executing);
    let claimed = claims.map(|event| event.attempt).collect();
    let (Some(first), Some(last)) = (case.history.first(), case.history.last()) else {
        findings.add(Rule::FromSomewhere, "it is kept, and its history is empty");
        return claimed;
    };

    check_proposal(case, first, findings);
    let mut probe = case.action.clone();
    for pair in case.history.windows(2) {
        check_move(&mut probe, &pair[0], &pair[1], findings);
    }
    people::check(case, findings);
    check_end(case, last, findings);
    claimed
}

/// Whether the host erased something of an action that had ended.
fn is_erasure(event: &HistoryEvent) -> bool {
    let ended = !matches!(event.to, Status::Pending | Status::Executing);
    ended && event.from == Some(event.to)
}

fn check_proposal(case: &Case, first: &HistoryEvent, findings: &mut Findings) {
    let proposed = (first.from, first.to, first.attempt) == (None, Status::Pending, 0);
    let by = first.actor.as_ref().map(|actor| &actor.user);
    if !proposed || by != Some(&case.action.proposal.proposer) {
        findings.add(Rule::Transitions, "its history does not begin with its proposer's proposal");
    }
}

fn check_move(probe: &mut Action, before: &HistoryEvent, event: &HistoryEvent, findings: &mut Findings) {
    let [was, became] = [before, event].map(|event| event.to.as_str());
    let (attempt, most) = (event.attempt, probe.proposal.max_attempts);
    if event.from != Some(before.to) {
        let said = event.from.map_or("nothing", |from| from.as_str());
        findings.add(Rule::Transitions, format!("it was {was}, and the next event says that it was {said}"));
    } else if (before.to, event.to) == (Status::Executing, Status::Executing) {
        let what = format!("attempt {attempt} was claimed while attempt {} was executing", before.attempt);
        findings.add(Rule::OneAttempt, what);
    } else if event.to == Status::Executing && attempt != before.attempt + 1 {
        let what = format!("attempt {attempt} was claimed when {} had been", before.attempt);
        findings.add(Rule::Attempts, what);
    } else if attempt > most {
        findings.add(Rule::Attempts, format!("attempt {attempt} was claimed, and it may have {most}"));
    } else if !is_erasure(event) && !may_follow(probe, before, event)
        || is_erasure(event) && attempt != before.attempt
    {
        let what = format!("it went from {was} to {became} in attempt {attempt}, which nothing leads to");
        findings.add(Rule::Transitions, what);
    }
    // Persons approve, claim and decline; the host expires, settles and erases.
    let of_a_person = match event.to {
        Status::Executing => true,
        Status::Pending => before.to == Status::Pending,
        Status::Declined => !is_erasure(event),
        _ => false,
    };
    if event.actor.is_some() != of_a_person {
        let who = if of_a_person { "nobody" } else { "a person" };
        findings.add(Rule::FromSomewhere, format!("it became {became} by {who}"));
    }
}

/// Whether [`Action::next`] leads from the one to the other, by any event.
fn may_follow(probe: &mut Action, before: &HistoryEvent, event: &HistoryEvent) -> bool {
    // Nobody said yes yet, or all but one: whether it is so, `people` tells.
    let all_but_one = probe.proposal.people.saturating_sub(1);
    [0, all_but_one].into_iter().any(|approvals| {
        probe.state = some_state(before.to, before.attempt, approvals);
        every_event().into_iter().any(|may| {
            let next = probe.next(may);
            next.is_ok_and(|next| (next.status(), next.attempts_used()) == (event.to, event.attempt))
        })
    })
}

/// A moment after [`Timestamp::EPOCH`], when a pending state of [`some_state`] expires.
fn later() -> Timestamp {
    Timestamp::EPOCH.after(Duration::from_secs(1))
}

fn some_claim() -> Claim {
    Claim { by: "somebody".parse().expect("it is a name"), key: None }
}

/// So many persons of whom [`some_claim`]'s is none.
fn some_approvals(count: u32) -> Vec<Approval> {
    let approval = |number| {
        let by = format!("person {number}").parse().expect("it is a name");
        Approval { claim: Claim { by, key: None }, at: Timestamp::EPOCH }
    };
    (0..count).map(approval).collect()
}

/// A state of this kind; what else it says leads nowhere else.
fn some_state(status: Status, attempts_used: u32, approvals: u32) -> State {
    let (at, expires_at, last_failure) = (Timestamp::EPOCH, later(), None);
    let approvals = some_approvals(approvals);
    match status {
        Status::Pending => State::Pending { attempts_used, expires_at, last_failure, approvals },
        Status::Executing => State::Executing {
            attempt: attempts_used,
            claim: some_claim(),
            since: at,
            expires_at,
            last_failure,
            approvals,
        },
        Status::Succeeded => {
            State::Succeeded { attempts_used, claim: some_claim(), at, output: Output::Erased, approvals }
        }
        Status::Failed => State::Failed { attempts_used, at, failure: Failure::new(Cause::Failed, "") },
        Status::Declined => State::Declined { attempts_used, at, by: some_claim().by, reason: None },
        Status::Expired => State::Expired { attempts_used, at },
    }
}

/// Every event, with every kind of verdict.
fn every_event() -> [Event; 7] {
    let settled = |verdict| Event::Settled { verdict, at: later(), expires_after: Duration::ZERO };
    let failed = |cause| settled(Verdict::Failed(Failure::new(cause, "")));
    [
        Event::Approved { claim: some_claim(), at: Timestamp::EPOCH },
        Event::Claimed { claim: some_claim(), at: Timestamp::EPOCH },
        Event::Declined { by: some_claim().by, reason: None, at: Timestamp::EPOCH },
        Event::Expired { at: later() },
        settled(Verdict::Succeeded(JsonText::empty_object())),
        failed(Cause::Interrupted),
        failed(Cause::Failed),
    ]
}

/// The stored state is where the history ends, and nothing happened beside it.
fn check_end(case: &Case, last: &HistoryEvent, findings: &mut Findings) {
    let Action { revision, state, .. } = &case.action;
    let stored = (state.status(), state.attempts_used());
    if stored != (last.to, last.attempt) {
        let [stored_as, ended] = [stored.0, last.to].map(Status::as_str);
        let what = format!(
            "it is stored as {stored_as} after {} attempts, and its history ends as {ended} after {}",
            stored.1, last.attempt
        );
        findings.add(Rule::EndAgrees, what);
    }
    let claimer = case.history.iter().rev().find(|event| event.to == Status::Executing);
    let claimer = claimer.and_then(|event| event.actor.as_ref()).map(|actor| &actor.user);
    if claim(state).is_some_and(|claim| claimer != Some(&claim.by)) {
        findings.add(Rule::EndAgrees, "its claim is of somebody else than its history says");
    }
    let told = case.history.len() as u64;
    if revision.0 != told {
        let what = format!("it was changed {} times, and its history tells of {told}", revision.0);
        findings.add(Rule::Transitions, what);
    }
    check_erased(case, findings);
}

/// What is erased was erased by the host, which wrote it down.
fn check_erased(case: &Case, findings: &mut Findings) {
    let Action { proposal, state, .. } = &case.action;
    let output = matches!(state, State::Succeeded { output: Output::Erased, .. });
    let arguments = matches!(proposal.arguments, Arguments::Erased(_));
    let erased = usize::from(output) + usize::from(arguments);
    let told = case.history.iter().filter(|event| is_erasure(event)).count();
    if erased != told {
        let what = format!("{erased} of its texts are erased, and its history tells of {told}");
        findings.add(Rule::Transitions, what);
    }
}
