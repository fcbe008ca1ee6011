//! Every state × every event, as one table.

use super::*;
use crate::failure::Cause;
use crate::grant::{Binding, BoundComponent};

const NOON: Timestamp = Timestamp::EPOCH;
const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn claim() -> Claim {
    Claim { by: "ann".parse().unwrap(), key: None }
}

pub(crate) fn approval(user: &str, key: Option<&str>) -> Approval {
    let key = key.map(|key| key.parse().unwrap());
    Approval { claim: Claim { by: user.parse().unwrap(), key }, at: NOON }
}

fn failure(cause: Cause) -> Failure {
    Failure::new(cause, "why")
}

fn output() -> JsonText {
    JsonText::parse("{\"n\":1}").unwrap()
}

pub(crate) fn action(state: State) -> Action {
    Action {
        id: "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap(),
        revision: Revision(1),
        proposal: Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent-7".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(JsonText::empty_object()),
            binding: Binding::Component(BoundComponent {
                component: "tickets".parse().unwrap(),
                digest: crate::digest::Digest::of("bytes"),
                grants: Default::default(),
            }),
            preview: Preview::None,
            created_at: NOON,
            max_attempts: 3,
            people: 1,
        },
        state,
        ledger: Ledger::default(),
    }
}

pub(crate) fn pending(attempts_used: u32) -> State {
    approved(attempts_used, &[])
}

/// Pending, and these said yes.
pub(crate) fn approved(attempts_used: u32, users: &[&str]) -> State {
    let approvals = users.iter().map(|user| approval(user, None)).collect();
    State::Pending { attempts_used, expires_at: NOON.after(HOUR), last_failure: None, approvals }
}

pub(crate) fn executing(attempt: u32) -> State {
    State::Executing {
        attempt,
        claim: claim(),
        since: NOON,
        expires_at: NOON.after(HOUR),
        last_failure: None,
        approvals: Vec::new(),
    }
}

pub(crate) fn ended() -> [State; 4] {
    [
        State::Succeeded {
            attempts_used: 1,
            claim: claim(),
            at: NOON,
            output: Output::Kept(output()),
            approvals: Vec::new(),
        },
        State::Failed { attempts_used: 1, at: NOON, failure: failure(Cause::Refused) },
        State::Declined { attempts_used: 0, at: NOON, by: "ann".parse().unwrap(), reason: None },
        State::Expired { attempts_used: 0, at: NOON },
    ]
}

fn confirmed(at: Timestamp) -> Event {
    Event::Claimed { claim: claim(), at }
}

fn approves(user: &str, at: Timestamp) -> Event {
    Event::Approved { claim: approval(user, None).claim, at }
}

fn settled(verdict: Verdict) -> Event {
    Event::Settled { verdict, at: NOON, expires_after: 2 * HOUR }
}

fn failed(cause: Cause) -> Event {
    settled(Verdict::Failed(failure(cause)))
}

fn declined() -> Event {
    Event::Declined { by: "ann".parse().unwrap(), reason: Some("no".into()), at: NOON }
}

fn expired(at: Timestamp) -> Event {
    Event::Expired { at }
}

/// `outcome` is a status, or `is illegal`.
#[track_caller]
fn check(state: State, event: Event, outcome: &str) -> Option<State> {
    let next = action(state).next(event);
    let got = next.as_ref().map_or("is illegal", |state| state.status().as_str());
    assert_eq!(got, outcome);
    next.ok()
}

#[test]
fn pending_can_be_confirmed_declined_and_expire() {
    let attempt = check(pending(1), confirmed(NOON), "Executing").unwrap().attempts_used();
    assert_eq!(attempt, 2, "an attempt counts from its claim on");
    check(pending(0), declined(), "Declined");
    check(pending(0), expired(NOON.after(HOUR)), "Expired");
}

/// The same as [`check`], of an action that takes two persons.
#[track_caller]
fn check_of_two(state: State, event: Event, outcome: &str) -> Option<State> {
    let mut action = action(state);
    action.proposal.people = 2;
    let next = action.next(event);
    assert_eq!(next.as_ref().map_or("is illegal", |state| state.status().as_str()), outcome);
    next.ok()
}

#[test]
fn where_it_takes_two_the_first_yes_starts_nothing_and_the_second_is_another_persons() {
    let one = check_of_two(pending(0), approves("ann", NOON), "Pending").unwrap();
    assert_eq!(one, approved(0, &["ann"]));
    check_of_two(pending(0), confirmed(NOON), "is illegal");
    check_of_two(one.clone(), confirmed(NOON), "is illegal"); // by ann
    check_of_two(one.clone(), approves("ann", NOON), "is illegal");
    check_of_two(one.clone(), approves("bob", NOON), "is illegal"); // that is the claim
    let running = check_of_two(approved(0, &["bob"]), confirmed(NOON), "Executing").unwrap();
    assert_eq!(running.approvals(), [approval("bob", None)]);
    check_of_two(one.clone(), declined(), "Declined");
    check_of_two(one.clone(), expired(NOON.after(HOUR)), "Expired");
    check_of_two(pending(0), approves("ann", NOON.after(HOUR)), "is illegal");
    check(pending(0), approves("ann", NOON), "is illegal"); // where one is enough
}

#[test]
fn another_attempt_is_another_decision_of_as_many() {
    let running = check_of_two(approved(0, &["bob"]), confirmed(NOON), "Executing").unwrap();
    let back = check_of_two(running.clone(), failed(Cause::TimedOut), "Pending").unwrap();
    assert_eq!(back.approvals(), []);
    let done = check_of_two(running, settled(Verdict::Succeeded(output())), "Succeeded").unwrap();
    assert_eq!(done.approvals(), [approval("bob", None)]);
}

#[test]
fn the_moment_of_expiry_is_too_late_to_confirm_and_not_too_early_to_expire() {
    let before = Timestamp::from_millis(NOON.after(HOUR).as_millis() - 1);
    check(pending(0), confirmed(before), "Executing");
    check(pending(0), confirmed(NOON.after(HOUR)), "is illegal");
    check(pending(0), expired(before), "is illegal");
}

#[test]
fn pending_has_nothing_to_settle() {
    check(pending(0), settled(Verdict::Succeeded(output())), "is illegal");
    check(pending(0), failed(Cause::TimedOut), "is illegal");
}

#[test]
fn executing_can_only_be_settled() {
    check(executing(1), settled(Verdict::Succeeded(output())), "Succeeded");
    check(executing(1), confirmed(NOON), "is illegal");
    check_of_two(executing(1), approves("bob", NOON), "is illegal");
    check(executing(1), declined(), "is illegal");
    check(executing(1), expired(NOON.after(2 * HOUR)), "is illegal");
}

#[test]
fn a_passing_failure_goes_back_to_the_person_until_the_third() {
    for cause in Cause::ALL.into_iter().filter(|cause| cause.returns_write()) {
        check(executing(1), failed(cause), "Pending");
        check(executing(2), failed(cause), "Pending");
        check(executing(3), failed(cause), "Failed");
    }
}

#[test]
fn any_other_failure_is_final_at_once() {
    for cause in Cause::ALL.into_iter().filter(|cause| !cause.returns_write()) {
        check(executing(1), failed(cause), "Failed");
    }
}

#[test]
fn a_failed_attempt_leaves_time_to_decide_again() {
    let Some(State::Pending { expires_at, .. }) = check(executing(1), failed(Cause::TimedOut), "Pending")
    else {
        unreachable!()
    };
    assert_eq!(expires_at, NOON.after(2 * HOUR));
}

#[test]
fn what_has_ended_stays_as_it_is() {
    for state in ended() {
        for event in [
            confirmed(NOON),
            settled(Verdict::Succeeded(output())),
            failed(Cause::TimedOut),
            declined(),
            expired(NOON.after(2 * HOUR)),
            approves("bob", NOON),
        ] {
            check(state.clone(), event.clone(), "is illegal");
            check_of_two(state.clone(), event, "is illegal");
        }
    }
}

#[test]
fn an_effect_is_told_once_an_attempt_has_ended() {
    let told = |state| action(state).effect();
    assert_eq!(told(pending(0)), None);
    assert_eq!(told(executing(2)), None);
    assert_eq!(told(pending(1)), Some(Effect::None));
    let [succeeded, failed, declined, _] = ended();
    assert_eq!(told(succeeded), Some(Effect::Applied));
    assert_eq!(told(failed), Some(Effect::None));
    assert_eq!(told(declined), None);
}
