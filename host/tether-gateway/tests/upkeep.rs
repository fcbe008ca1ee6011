//! What the host does without anybody asking, and what it says while it cannot.

mod world;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::action::{Output, State, Status};
use tether_core::failure::Cause;
use tether_core::problem::Code;
use tokio::task::yield_now;
use world::{Act, World, ann, key, propose, words};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn idle_is_when_no_attempt_runs_whoever_waits_for_it() {
    let world = World::new(&[Act::Wait]);
    let gateway = world.gateway();
    gateway.idle().await;
    let id = propose(&gateway, None).await.unwrap().id;
    let confirming = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.confirm(&ann(), id, None, None).await.map(drop) }
    });
    world.handlers.started.notified().await;
    confirming.abort();
    let idle = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move { gateway.idle().await }
    });
    for _ in 0..100 {
        yield_now().await;
    }
    assert!(!idle.is_finished());
    world.handlers.go_on.notify_one();
    idle.await.unwrap();
    assert_eq!(world.stored(id).state.status(), Status::Succeeded);
}

#[tokio::test]
async fn a_panic_and_an_attempt_that_cannot_be_settled_are_idle() {
    let world = World::new(&[Act::Panic, Act::Commit]);
    let gateway = world.gateway();
    let first = propose(&gateway, None).await.unwrap().id;
    assert_eq!(gateway.confirm(&ann(), first, None, None).await.unwrap_err().code, Code::Internal);
    gateway.idle().await;
    *world.handlers.unreachable.lock().unwrap() = true;
    let second = propose(&gateway, None).await.unwrap().id;
    let told = gateway.confirm(&ann(), second, None, None).await.unwrap();
    assert_eq!(words(&told), "Conflict ACTION_EXECUTING");
    gateway.idle().await;
}

#[tokio::test]
async fn kept_components_are_looked_through_once_a_minute_and_when_an_action_ended() {
    let world = World::new(&[Act::Fail(Cause::Transient), Act::Commit]);
    let gateway = world.gateway();
    let asked = async |round: &str, expected| {
        gateway.sweep().await.unwrap();
        assert_eq!(world.actions.components_asked(), expected, "{round}");
    };
    asked("the first round", 1).await;
    asked("at once", 1).await;
    let id = propose(&gateway, None).await.unwrap().id;
    gateway.confirm(&ann(), id, None, None).await.unwrap();
    asked("it is pending again", 1).await;
    gateway.confirm(&ann(), id, None, None).await.unwrap();
    asked("it succeeded", 2).await;
    asked("nothing ended since", 2).await;
    world.clock.advance(Duration::from_secs(60));
    asked("a minute later", 3).await;
    let id = propose(&gateway, None).await.unwrap().id;
    gateway.decline(&ann(), id, None).await.unwrap();
    asked("one is declined", 4).await;
    propose(&gateway, None).await.unwrap();
    world.clock.advance(DAY);
    asked("one expires in this round", 5).await;
    asked("nothing ended since", 5).await;
}

#[tokio::test]
async fn records_in_a_database_that_is_away_are_emptied_later() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    gateway.confirm(&ann(), id, None, None).await.unwrap();
    world.clock.advance(31 * DAY);
    *world.handlers.unreachable.lock().unwrap() = true;
    gateway.sweep().await.unwrap();
    assert!(matches!(world.stored(id).state, State::Succeeded { output: Output::Erased, .. }));
    *world.handlers.unreachable.lock().unwrap() = false;
    let emptied = || world.handlers.emptied.lock().unwrap().len();
    gateway.sweep().await.unwrap();
    assert_eq!(emptied(), 0, "not at once");
    world.clock.advance(DAY);
    gateway.sweep().await.unwrap();
    gateway.sweep().await.unwrap();
    assert_eq!(emptied(), 1, "and once is enough");
}

#[tokio::test]
async fn a_locked_store_is_told_and_uses_up_no_attempt() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    world.actions.set_busy(true);
    let told = gateway.confirm(&ann(), id, None, None).await.unwrap_err();
    assert_eq!(told.code, Code::Overloaded);
    assert!(told.detail.contains("nothing was attempted") && told.retry_after.is_some(), "{told:?}");
    world.actions.set_busy(false);
    assert_eq!((world.handlers.runs(), world.stored(id).state.attempts_used()), (0, 0));
    assert_eq!(words(&gateway.confirm(&ann(), id, None, None).await.unwrap()), "Succeeded");
}

#[tokio::test]
async fn what_was_told_stays_so_while_the_end_cannot_be_written() {
    let world = World::new(&[Act::Wait]);
    let gateway = world.gateway();
    let id = propose(&gateway, key("p")).await.unwrap().id;
    let confirm = |text: &str| {
        let (gateway, key) = (Arc::clone(&gateway), key(text));
        tokio::spawn(async move { words(&gateway.confirm(&ann(), id, key, None).await.unwrap()) })
    };
    let confirmed = confirm("k");
    world.handlers.started.notified().await;
    world.actions.fail_next(1);
    world.handlers.go_on.notify_one();
    assert_eq!(confirmed.await.unwrap(), "Succeeded");
    gateway.idle().await;
    assert_eq!(world.stored(id).state.status(), Status::Executing, "it could not be written");

    assert_eq!(gateway.action(&ann(), id).await.unwrap().state.status(), Status::Succeeded);
    assert_eq!(propose(&gateway, key("p")).await.unwrap().state.status(), Status::Succeeded);
    assert_eq!(confirm("k").await.unwrap(), "Replayed");
    assert_eq!(confirm("l").await.unwrap(), "Conflict ACTION_DECIDED");
    gateway.sweep().await.unwrap();
    assert_eq!(world.stored(id).state.status(), Status::Succeeded);
    assert_eq!(world.handlers.effects(), 1);
}

#[tokio::test]
async fn f15_a_full_disk_of_the_tool_is_told_and_uses_up_no_attempt() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    world.handlers.full.store(true, Ordering::SeqCst);
    for _ in 0..4 {
        let told = gateway.confirm(&ann(), id, None, None).await.unwrap_err();
        assert_eq!(told.code, Code::StorageFull);
        assert!(told.detail.contains("no attempt is used") && told.detail.contains("`main`"), "{told:?}");
        assert!(told.retry_after.is_some());
    }
    let action = world.stored(id);
    assert_eq!((action.state.status(), action.state.attempts_used()), (Status::Pending, 0));
    world.handlers.full.store(false, Ordering::SeqCst);
    assert_eq!(words(&gateway.confirm(&ann(), id, None, None).await.unwrap()), "Succeeded");
}

#[tokio::test]
async fn a_cursor_that_is_none_of_ours_is_a_malformed_request() {
    let world = World::new(&[Act::Commit]);
    let told = world.gateway().actions(&ann(), None, 10, Some("nonsense".into())).await.unwrap_err();
    assert!(told.malformed && told.detail.contains("cursor"), "{told:?}");
}
