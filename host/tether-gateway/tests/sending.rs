//! What a write sends, what is noted of it, and what is told of it.

mod world;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tether_core::action::{Action, Status};
use tether_core::failure::Cause;
use tether_core::id::ActionId;
use tether_core::ledger::{Answer, Effect, Fact};
use tether_core::problem::Code;
use tether_gateway::Gateway;
use world::{Act, Then, World, agent, ann, json, propose, request, words};

/// The answers to what was sent, each with the attempt that sent it.
fn answers(action: &Action) -> Vec<(u32, Answer)> {
    let sent = action.ledger.entries().iter().filter_map(|entry| match &entry.fact {
        Fact::Sent { request: sent, answer } => {
            assert_eq!(*sent, request());
            Some((entry.attempt, *answer))
        }
        Fact::Committed { .. } => None,
    });
    sent.collect()
}

async fn proposed(world: &World) -> (Arc<Gateway>, ActionId) {
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    (gateway, id)
}

async fn confirm(gateway: &Arc<Gateway>, id: ActionId) -> String {
    match gateway.confirm(&ann(), id, None, None).await {
        Ok(outcome) => words(&outcome),
        Err(problem) => problem.code.to_string(),
    }
}

#[tokio::test]
async fn the_effect_is_told_by_the_answer_and_the_end() {
    let failing = Then::Fail(Cause::TimedOut);
    for (answer, then, effect) in [
        (Answer::InDoubt, failing, Effect::Unknown),
        (Answer::InDoubt, Then::Commit, Effect::Unknown),
        (Answer::Status(200), failing, Effect::Unknown),
        (Answer::Status(200), Then::Commit, Effect::Applied),
        (Answer::NotSent, failing, Effect::None),
        (Answer::NotSent, Then::Commit, Effect::Applied),
    ] {
        let world = World::new(&[Act::Send(answer, then)]);
        let (gateway, id) = proposed(&world).await;
        confirm(&gateway, id).await;
        let action = world.stored(id);
        assert_eq!(answers(&action), [(1, answer)]);
        assert_eq!(action.effect(), Some(effect), "{answer:?}, {then:?}");
    }
}

#[tokio::test]
async fn f9_what_was_sent_before_a_trap_is_not_sent_again_by_itself() {
    let world = World::new(&[Act::Send(Answer::InDoubt, Then::Fail(Cause::Trapped))]);
    let (gateway, id) = proposed(&world).await;
    assert_eq!(confirm(&gateway, id).await, "FailedRetryable EXECUTION_FAILED_RETRYABLE");
    gateway.sweep().await.unwrap();
    world.gateway().recover().await.unwrap();
    let action = world.stored(id);
    assert_eq!((world.handlers.sent(), world.handlers.runs()), (1, 1));
    assert_eq!((action.state.status(), action.effect()), (Status::Pending, Some(Effect::Unknown)));
    assert_eq!(answers(&action), [(1, Answer::InDoubt)]);
}

#[tokio::test]
async fn what_earlier_attempts_sent_stays_in_the_ledger() {
    let world = World::new(&[
        Act::Send(Answer::InDoubt, Then::Fail(Cause::TimedOut)),
        Act::Fail(Cause::Transient),
        Act::Send(Answer::Status(200), Then::Commit),
    ]);
    let (gateway, id) = proposed(&world).await;
    for told in ["FailedRetryable", "FailedRetryable", "Succeeded"] {
        assert!(confirm(&gateway, id).await.starts_with(told));
    }
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::InDoubt), (3, Answer::Status(200))]);
    assert_eq!(action.effect(), Some(Effect::Unknown), "a success does not tell what the first one did");
    assert_eq!(*world.handlers.upstream.lock().unwrap(), [1, 3]);
}

#[tokio::test]
async fn an_answer_is_not_forgotten_while_the_attempt_cannot_be_settled() {
    let world = World::new(&[Act::Send(Answer::Status(200), Then::Commit)]);
    let (gateway, id) = proposed(&world).await;
    *world.handlers.unreachable.lock().unwrap() = true;
    assert_eq!(confirm(&gateway, id).await, "Conflict ACTION_EXECUTING");
    assert_eq!(answers(&world.stored(id)), [(1, Answer::InDoubt)], "as it was noted");
    *world.handlers.unreachable.lock().unwrap() = false;
    gateway.sweep().await.unwrap();
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::Status(200))]);
    assert_eq!(action.effect(), Some(Effect::Applied));
}

#[tokio::test]
async fn after_a_panic_only_what_was_noted_is_known() {
    let world = World::new(&[Act::Send(Answer::Status(200), Then::Panic)]);
    let (gateway, id) = proposed(&world).await;
    assert_eq!(confirm(&gateway, id).await, "INTERNAL");
    gateway.sweep().await.unwrap();
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::InDoubt)]);
    assert_eq!((action.state.status(), action.effect()), (Status::Pending, Some(Effect::Unknown)));
}

#[tokio::test]
async fn what_was_sent_while_the_host_looked_around_is_not_overlooked() {
    let world = World::new(&[Act::Send(Answer::Status(200), Then::Panic)]);
    let (gateway, id) = proposed(&world).await;
    world.handlers.holds.store(true, Ordering::SeqCst);
    world.actions.lists.hold();
    let spawned = Arc::clone(&gateway);
    let confirming = tokio::spawn(async move { confirm(&spawned, id).await });
    world.handlers.started.notified().await;
    let sweeping = tokio::spawn(async move { gateway.sweep().await });
    world.actions.lists.came().await;
    world.handlers.go_on.notify_one();
    assert_eq!(confirming.await.unwrap(), "INTERNAL");
    world.actions.lists.release();
    sweeping.await.unwrap().unwrap();
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::InDoubt)]);
    assert_eq!(action.effect(), Some(Effect::Unknown));
}

#[tokio::test]
async fn what_cannot_be_noted_is_not_sent() {
    let world = World::new(&[Act::Send(Answer::Status(200), Then::Commit)]);
    let (gateway, id) = proposed(&world).await;
    world.handlers.holds.store(true, Ordering::SeqCst);
    let confirming = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { confirm(&gateway, id).await }
    });
    world.handlers.started.notified().await;
    world.actions.fail_next(1);
    world.handlers.go_on.notify_one();
    assert_eq!(confirming.await.unwrap(), "FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(world.handlers.sent(), 0);
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::NotSent)]);
    assert_eq!(action.effect(), Some(Effect::None));
    assert_eq!(action.state.failure().map(|failure| failure.cause), Some(Cause::StorageFull));
}

#[tokio::test]
async fn fifty_at_once_share_two_notes_and_none_is_lost() {
    // The first one is answered before the second note is written, which says so.
    let mut after_a_panic = [(1, Answer::InDoubt); 50];
    after_a_panic[0].1 = Answer::Status(200);
    for (then, expected) in
        [(Then::Fail(Cause::TimedOut), [(1, Answer::Status(200)); 50]), (Then::Panic, after_a_panic)]
    {
        let world = World::new(&[Act::SendAll(50, then)]);
        let (gateway, id) = proposed(&world).await;
        confirm(&gateway, id).await;
        gateway.sweep().await.unwrap();
        assert_eq!(answers(&world.stored(id)), expected);
        assert_eq!(world.actions.notes(), 2, "the first one, and one for all who came meanwhile");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_while_it_is_noted_never_left() {
    let world = World::new(&[Act::GiveUp(Cause::TimedOut)]);
    let (gateway, id) = proposed(&world).await;
    confirm(&gateway, id).await;
    let action = world.stored(id);
    assert_eq!(answers(&action), [(1, Answer::NotSent)]);
    assert_eq!(action.effect(), Some(Effect::None));
}

#[tokio::test]
async fn nothing_leaves_after_the_end_of_its_attempt() {
    let world = World::new(&[Act::Fail(Cause::TimedOut), Act::Wait]);
    let (gateway, id) = proposed(&world).await;
    confirm(&gateway, id).await;
    world.handlers.started.notified().await;
    let of_first = world.handlers.journal.lock().unwrap().clone().unwrap();
    assert!(of_first.leaves(request()).await.is_err());
    tokio::spawn(async move { confirm(&gateway, id).await });
    world.handlers.started.notified().await;
    assert!(of_first.leaves(request()).await.is_err(), "not in the name of another attempt either");
    assert!(answers(&world.stored(id)).is_empty());
}

#[tokio::test]
async fn sends_and_runs_of_a_read_share_one_budget() {
    for (again, runs, sent) in [(0, 3, 3), (1, 2, 3), (9, 1, 3)] {
        let world = World::new(&[Act::Resend(again)]);
        let told = world.gateway().call(&agent(), "read", json("{}"), None).await.unwrap_err();
        assert_eq!((told.code, told.attempts), (Code::UpstreamUnavailable, Some(3)));
        assert_eq!((world.handlers.runs(), world.handlers.sent()), (runs, sent), "{again} in place");
    }
}
