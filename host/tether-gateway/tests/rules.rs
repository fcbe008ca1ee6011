//! Who may decide, how many it takes, and how many proposals may be open.

mod world;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tether_core::action::Status;
use tether_core::failure::Cause;
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Role};
use tether_core::problem::Code;
use tether_core::rule::{Rule, Rules};
use tether_gateway::{Gateway, Settings};
use world::{Act, World, agent, ann, bob, caller, json, key, propose, words};

fn with(world: &World, rule: Rule) -> Arc<Gateway> {
    let rules = Rules { default: rule, ..Rules::default() };
    world.gateway_with(Settings { rules, ..Settings::default() })
}

fn of_people(people: u32) -> Rule {
    Rule { people, ..Rule::default() }
}

/// What the person is told.
async fn confirm(gateway: &Arc<Gateway>, by: &Caller, id: ActionId, text: &str, seen: Option<u32>) -> String {
    match gateway.confirm(by, id, key(text), seen).await {
        Ok(outcome) => words(&outcome),
        Err(problem) => problem.code.to_string(),
    }
}

async fn decline(gateway: &Arc<Gateway>, by: &Caller, id: ActionId) -> String {
    match gateway.decline(by, id, None).await {
        Ok(outcome) => words(&outcome),
        Err(problem) => problem.code.to_string(),
    }
}

#[tokio::test]
async fn where_it_takes_two_the_first_yes_runs_nothing_and_the_second_is_another_persons() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, of_people(2));
    let id = propose(&gateway, None).await.unwrap().id;
    assert_eq!(confirm(&gateway, &ann(), id, "a", Some(0)).await, "Approved");
    assert_eq!(confirm(&gateway, &ann(), id, "a", Some(0)).await, "Approved", "a lost answer");
    assert_eq!(confirm(&gateway, &ann(), id, "another", None).await, "Approved", "another tab");
    let stored = world.stored(id).state;
    assert_eq!((stored.status(), stored.approvals().len(), world.handlers.runs()), (Status::Pending, 1, 0));
    assert_eq!(confirm(&gateway, &bob(), id, "b", Some(0)).await, "Succeeded");
    assert_eq!(confirm(&gateway, &bob(), id, "b", None).await, "Replayed");
    assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, "Replayed", "it approved what ran");
    assert_eq!(confirm(&gateway, &ann(), id, "x", None).await, "Conflict ACTION_DECIDED");
    assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 1));
    let told: Vec<_> = world.actions.told(id).into_iter().map(|event| event.detail).collect();
    assert_eq!(told[1..3], ["approved; 1 of 2", "confirmed; attempt 1 begins"]);
}

#[tokio::test]
async fn what_cannot_run_because_a_yes_fell_can_be_declined() {
    let world = World::new(&[Act::Commit]);
    let id = propose(&with(&world, of_people(2)), None).await.unwrap().id;
    assert_eq!(confirm(&with(&world, of_people(2)), &ann(), id, "a", None).await, "Approved");
    // The next start has a rule that does not name ann.
    let confirmers = ["bob", "cat"].map(|user| user.parse().unwrap()).to_vec();
    let gateway = with(&world, Rule { confirmers, ..of_people(2) });
    assert_eq!(confirm(&gateway, &bob(), id, "b", None).await, "Conflict ACTION_OUTDATED");
    let told = gateway.confirm(&bob(), id, key("b"), None).await.unwrap().error().unwrap().1;
    assert!(told.starts_with("ann said yes, and may not decide about it any more."), "{told}");
    assert_eq!(world.handlers.runs(), 0);
    assert_eq!(decline(&gateway, &bob(), id).await, "Declined");
}

#[tokio::test]
async fn a_failed_attempt_takes_as_many_again() {
    let world = World::new(&[Act::Fail(Cause::Transient), Act::Commit]);
    let gateway = with(&world, of_people(2));
    let id = propose(&gateway, None).await.unwrap().id;
    assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, "Approved");
    let failed = "FailedRetryable EXECUTION_FAILED_RETRYABLE";
    assert_eq!(confirm(&gateway, &bob(), id, "b", None).await, failed);
    assert_eq!(world.stored(id).state.approvals(), []);
    assert_eq!(confirm(&gateway, &bob(), id, "b", Some(0)).await, "Conflict ACTION_CHANGED");
    assert_eq!(confirm(&gateway, &bob(), id, "b", Some(1)).await, "Approved");
    assert_eq!(confirm(&gateway, &ann(), id, "a", Some(1)).await, "Succeeded");
    assert_eq!(world.handlers.effects(), 1);
}

#[tokio::test]
async fn a_yes_that_comes_again_late_is_none_to_another_attempt() {
    let world = World::new(&[Act::Fail(Cause::Transient), Act::Commit]);
    let gateway = with(&world, of_people(2));
    let id = propose(&gateway, None).await.unwrap().id;
    assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, "Approved");
    confirm(&gateway, &bob(), id, "b", None).await;
    let failed = "Conflict EXECUTION_FAILED_RETRYABLE";
    for _ in 0..2 {
        assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, failed, "the yes of an approver");
        assert_eq!(confirm(&gateway, &bob(), id, "b", None).await, failed, "of who began the attempt");
    }
    assert_eq!(world.stored(id).state.approvals(), []);
    let cat = caller("cat", &[Role::Approver]);
    assert_eq!(confirm(&gateway, &cat, id, "c", None).await, "Approved");
    assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, failed, "nor does it begin one");
    assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 0));
    assert_eq!(confirm(&gateway, &ann(), id, "another", None).await, "Succeeded");
}

#[tokio::test]
async fn the_key_of_an_approval_names_its_action() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, of_people(2));
    let [first, second] = [propose(&gateway, key("1")).await, propose(&gateway, key("2")).await];
    let [first, second] = [first.unwrap().id, second.unwrap().id];
    assert_eq!(confirm(&gateway, &ann(), first, "k", None).await, "Approved");
    assert_eq!(confirm(&gateway, &ann(), second, "k", None).await, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(confirm(&gateway, &bob(), second, "k", None).await, "Approved");
}

#[tokio::test]
async fn how_many_it_takes_is_bound_when_it_is_proposed() {
    let world = World::new(&[Act::Commit]);
    let id = propose(&with(&world, of_people(2)), None).await.unwrap().id;
    let changed = with(&world, of_people(1));
    assert_eq!(confirm(&changed, &ann(), id, "a", None).await, "Approved");
    assert_eq!(confirm(&changed, &bob(), id, "b", None).await, "Succeeded");
}

#[tokio::test]
async fn what_is_approved_can_be_declined_and_expires() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, of_people(2));
    let [first, second] = [propose(&gateway, key("1")).await, propose(&gateway, key("2")).await];
    let [first, second] = [first.unwrap().id, second.unwrap().id];
    assert_eq!(confirm(&gateway, &ann(), first, "k", None).await, "Approved");
    assert_eq!(decline(&gateway, &ann(), first).await, "Declined", "who approved may think again");
    assert_eq!(confirm(&gateway, &ann(), second, "l", None).await, "Approved");
    world.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(confirm(&gateway, &bob(), second, "b", None).await, "Conflict ACTION_EXPIRED");
    assert_eq!(world.handlers.runs(), 0);
}

#[tokio::test]
async fn nobody_approves_what_cannot_run_any_more() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, of_people(2));
    let id = propose(&gateway, None).await.unwrap().id;
    *world.handlers.outdated.lock().unwrap() = true;
    assert_eq!(confirm(&gateway, &ann(), id, "a", None).await, "Conflict ACTION_OUTDATED");
    assert_eq!(world.stored(id).state.approvals(), []);
}

#[tokio::test]
async fn f29_the_proposer_decides_only_where_it_may() {
    let both = caller("agent-7", &[Role::Agent, Role::Approver]);
    let alone = Caller { alone: true, ..both.clone() };
    for (proposer_may_confirm, by, confirmed, declined) in [
        (None, &both, "FORBIDDEN", "FORBIDDEN"),
        (None, &alone, "Succeeded", "Declined"),
        (Some(true), &both, "Succeeded", "Declined"),
        (Some(false), &alone, "FORBIDDEN", "FORBIDDEN"),
    ] {
        let world = World::new(&[Act::Commit]);
        let gateway = with(&world, Rule { proposer_may_confirm, ..Rule::default() });
        let [first, second] = [propose(&gateway, key("1")).await, propose(&gateway, key("2")).await];
        let case = format!("{proposer_may_confirm:?}, alone: {}", by.alone);
        assert_eq!(confirm(&gateway, by, first.unwrap().id, "k", None).await, confirmed, "{case}");
        assert_eq!(decline(&gateway, by, second.unwrap().id).await, declined, "{case}");
        assert_eq!(world.handlers.runs(), usize::from(confirmed == "Succeeded"), "{case}");
    }
}

#[tokio::test]
async fn a_rule_names_who_decides_about_its_tool_and_about_no_other() {
    let world = World::new(&[Act::Commit]);
    let named = Rule { confirmers: vec!["ann".parse().unwrap()], ..Rule::default() };
    let by_tool = BTreeMap::from([("write".parse().unwrap(), named)]);
    let rules = Rules { by_tool, ..Rules::default() };
    let gateway = world.gateway_with(Settings { rules, ..Settings::default() });
    let [first, second] = [propose(&gateway, key("1")).await, propose(&gateway, key("2")).await];
    let [first, second] = [first.unwrap().id, second.unwrap().id];
    assert_eq!(confirm(&gateway, &bob(), first, "k", None).await, "FORBIDDEN");
    assert_eq!(decline(&gateway, &bob(), first).await, "FORBIDDEN");
    assert_eq!(confirm(&gateway, &ann(), first, "k", None).await, "Succeeded");
    // The rule is that of now, not that of the proposal.
    assert_eq!(confirm(&world.gateway(), &bob(), second, "k", None).await, "Succeeded");
    let admin = caller("ann", &[Role::Admin]);
    assert_eq!(confirm(&gateway, &admin, first, "k", None).await, "FORBIDDEN", "a name gives no role");
}

#[tokio::test]
async fn who_may_not_see_it_is_not_told_that_it_may_not_decide() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let stranger = Caller { tenant: "umbrella".parse().unwrap(), ..ann() };
    assert_eq!(confirm(&gateway, &stranger, id, "k", None).await, "ACTION_NOT_FOUND");
    assert_eq!(decline(&gateway, &stranger, id).await, "ACTION_NOT_FOUND");
}

#[tokio::test]
async fn so_many_proposals_of_a_tool_are_open_and_a_repetition_is_never_refused() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, Rule { max_open: Some(2), ..Rule::default() });
    let first = propose(&gateway, key("1")).await.unwrap().id;
    let second = propose(&gateway, key("2")).await.unwrap().id;
    let refused = propose(&gateway, key("3")).await.unwrap_err();
    assert_eq!((refused.code, refused.retry_after), (Code::Overloaded, Some(Duration::from_secs(60))));
    assert!(refused.detail.contains("2 of your proposals"), "{}", refused.detail);
    assert_eq!(propose(&gateway, key("1")).await.unwrap().id, first);
    let other = caller("agent-8", &[Role::Agent]);
    assert!(gateway.call(&other, "write", json("{}"), None).await.is_ok(), "each has as many");
    assert_eq!(confirm(&gateway, &ann(), first, "k", None).await, "Succeeded");
    assert!(propose(&gateway, key("3")).await.is_ok(), "once one is decided");
    assert_eq!(decline(&gateway, &ann(), second).await, "Declined");
    world.clock.advance(Duration::from_secs(2 * 24 * 3600));
    assert!(propose(&gateway, key("4")).await.is_ok());
    assert!(propose(&gateway, key("5")).await.is_ok(), "what is over is not open, though nobody swept");
}

#[tokio::test]
async fn what_was_told_to_have_ended_is_not_open_though_it_is_still_being_written() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, Rule { max_open: Some(1), ..Rule::default() });
    let first = propose(&gateway, key("1")).await.unwrap().id;
    world.actions.ends.hold();
    assert_eq!(confirm(&gateway, &ann(), first, "k", None).await, "Succeeded");
    world.actions.ends.came().await;
    assert_eq!(world.stored(first).state.status(), Status::Executing);
    let mut next = pin!(propose(&gateway, key("2")));
    for _ in 0..100 {
        tokio::select! {
            biased;
            early = &mut next => panic!("answered before the end is written: {early:?}"),
            () = tokio::task::yield_now() => {}
        }
    }
    world.actions.ends.release();
    assert!(next.await.is_ok());
    assert_eq!(world.stored(first).state.status(), Status::Succeeded);
}

#[tokio::test]
async fn what_was_erased_is_known_by_its_fingerprint_and_shown_as_erased() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, key("p")).await.unwrap().id;
    assert_eq!(confirm(&gateway, &ann(), id, "k", None).await, "Succeeded");
    world.clock.advance(Duration::from_secs(31 * 24 * 3600));
    gateway.sweep().await.unwrap();
    let seen = gateway.action(&ann(), id).await.unwrap();
    assert!(seen.proposal.arguments.kept().is_none());
    assert_eq!(propose(&gateway, key("p")).await.unwrap().id, id, "the same proposal");
    let other = gateway.call(&agent(), "write", json("{\"n\":2}"), key("p")).await;
    assert_eq!(other.unwrap_err().code, Code::IdempotencyKeyReused);
    assert_eq!(confirm(&gateway, &ann(), id, "k", None).await, "KEY_EXPIRED");
    let erased = &world.actions.told(id)[3..];
    assert!(erased.iter().all(|event| event.actor.is_none() && event.from == Some(event.to)), "{erased:?}");
    assert_eq!(erased.len(), 2);
}

#[tokio::test]
async fn a_rule_says_how_long_there_is_to_decide_also_after_a_failure() {
    let world = World::new(&[Act::Fail(Cause::Transient)]);
    let short = Rule { expires_after: Duration::from_secs(60), ..Rule::default() };
    let gateway = with(&world, short);
    let id = propose(&gateway, None).await.unwrap().id;
    world.clock.advance(Duration::from_secs(59));
    let failed = "FailedRetryable EXECUTION_FAILED_RETRYABLE";
    assert_eq!(confirm(&gateway, &ann(), id, "k", None).await, failed);
    world.clock.advance(Duration::from_secs(59));
    assert_eq!(confirm(&gateway, &ann(), id, "k", None).await, failed);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(confirm(&gateway, &ann(), id, "k", None).await, "Conflict ACTION_EXPIRED");
}
