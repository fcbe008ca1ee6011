//! Decisions by a form in the proposer's own client.

mod world;

use std::sync::Arc;

use tether_core::failure::Cause;
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Channel, Role};
use tether_core::rule::{Rule, Rules};
use tether_gateway::{Gateway, Settings};
use world::{Act, World, agent, ann, key, propose, words};

fn with(world: &World, rule: Rule) -> Arc<Gateway> {
    let rules = Rules { default: rule, ..Rules::default() };
    world.gateway_with(Settings { rules, ..Settings::default() })
}

fn forms() -> Rule {
    Rule { form_confirms: true, ..Rule::default() }
}

/// The proposer's client.
fn client() -> Caller {
    Caller { roles: vec![Role::Agent], channel: Channel::Mcp, ..agent() }
}

async fn decide(gateway: &Arc<Gateway>, by: &Caller, id: ActionId, yes: bool, seen: u32) -> String {
    match gateway.decide_in_client(by, id, yes, seen).await {
        Ok(outcome) => words(&outcome),
        Err(problem) => problem.code.to_string(),
    }
}

#[tokio::test]
async fn a_form_that_counts_confirms_once_however_often_it_is_answered() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, forms());
    let id = propose(&gateway, None).await.unwrap().id;
    assert_eq!(decide(&gateway, &client(), id, true, 0).await, "Succeeded");
    assert_eq!(decide(&gateway, &client(), id, true, 0).await, "Replayed");
    assert_eq!(decide(&gateway, &client(), id, false, 0).await, "Conflict ACTION_DECIDED");
    assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 1));
    let actor = world.actions.told(id)[1].actor.clone().unwrap();
    assert_eq!((actor.user, actor.channel), (client().user, Some(Channel::Mcp)));
}

#[tokio::test]
async fn a_form_that_counts_declines() {
    let world = World::new(&[Act::Commit]);
    let gateway = with(&world, forms());
    let id = propose(&gateway, None).await.unwrap().id;
    assert_eq!(decide(&gateway, &client(), id, false, 0).await, "Declined");
    assert_eq!(decide(&gateway, &client(), id, true, 0).await, "Conflict ACTION_DECLINED");
    assert_eq!(world.handlers.runs(), 0);
}

#[tokio::test]
async fn an_answer_about_an_attempt_that_is_over_spends_no_other() {
    let world = World::new(&[Act::Fail(Cause::Transient), Act::Commit]);
    let gateway = with(&world, forms());
    let id = propose(&gateway, None).await.unwrap().id;
    let failed = "FailedRetryable EXECUTION_FAILED_RETRYABLE";
    assert_eq!(decide(&gateway, &client(), id, true, 0).await, failed);
    assert_eq!(decide(&gateway, &client(), id, true, 0).await, "Conflict ACTION_CHANGED");
    assert_eq!(world.handlers.runs(), 1);
    assert_eq!(decide(&gateway, &client(), id, true, 1).await, "Succeeded");
}

#[tokio::test]
async fn without_the_rule_and_for_anybody_else_a_form_decides_nothing() {
    let world = World::new(&[Act::Commit]);
    let plain = with(&world, Rule::default());
    let id = propose(&plain, None).await.unwrap().id;
    let gateway = with(&world, forms());
    for yes in [true, false] {
        assert_eq!(decide(&plain, &client(), id, yes, 0).await, "FORBIDDEN");
        // The role of an approver is no help: over the API there are no forms.
        let approver = Caller { roles: Role::ALL.to_vec(), ..ann() };
        assert_eq!(decide(&gateway, &approver, id, yes, 0).await, "FORBIDDEN");
        assert_eq!(
            decide(&gateway, &Caller { channel: Channel::Mcp, ..approver }, id, yes, 0).await,
            "FORBIDDEN"
        );
        let other_agent = Caller { user: "another".parse().unwrap(), ..client() };
        assert_eq!(decide(&gateway, &other_agent, id, yes, 0).await, "ACTION_NOT_FOUND");
    }
    assert_eq!(world.handlers.runs(), 0);
    assert_eq!(words(&gateway.confirm(&ann(), id, key("k"), None).await.unwrap()), "Succeeded");
}
