//! What people are told, in every situation of a confirmation.

mod world;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::action::Status;
use tether_core::failure::Cause;
use tether_core::identity::Role;
use tether_core::problem::Code;
use tether_gateway::{Called, Gateway, Settings};
use world::{Act, World, agent, ann, bob, caller, json, key, propose, words};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Confirms again and again with what each confirmation carries, and compares
/// what is told.
async fn check(
    gateway: &Arc<Gateway>,
    id: tether_core::id::ActionId,
    confirmations: &[(Option<&str>, Option<u32>, &str)],
) {
    for (index, (text, seen, expected)) in confirmations.iter().enumerate() {
        let told = match gateway.confirm(&ann(), id, text.and_then(key), *seen).await {
            Ok(outcome) => words(&outcome),
            Err(problem) => problem.code.to_string(),
        };
        assert_eq!(told, *expected, "confirmation {}", index + 1);
    }
}

#[tokio::test]
async fn a_success_is_replayed_to_the_same_key_or_none_and_to_no_other() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    check(
        &gateway,
        id,
        &[
            (Some("k"), Some(0), "Succeeded"),
            (Some("k"), Some(0), "Replayed"),
            (None, None, "Replayed"),
            (Some("l"), None, "Conflict ACTION_DECIDED"),
        ],
    )
    .await;
    assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 1));
}

#[tokio::test]
async fn three_attempts_then_failed_for_good() {
    let world = World::new(&[Act::Fail(Cause::Transient)]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let first = gateway.confirm(&ann(), id, None, None).await.unwrap();
    let (code, message) = first.error().unwrap();
    assert_eq!(code, Code::ExecutionFailedRetryable);
    assert_eq!(message, "Execution failed transiently; the action remains confirmable (1/3 attempts used).");
    check(
        &gateway,
        id,
        &[
            (None, Some(0), "Conflict ACTION_CHANGED"),
            (None, Some(1), "FailedRetryable EXECUTION_FAILED_RETRYABLE"),
            (None, Some(2), "Failed EXECUTION_ATTEMPTS_EXHAUSTED"),
            (None, None, "Failed EXECUTION_ATTEMPTS_EXHAUSTED"),
        ],
    )
    .await;
    assert_eq!(world.handlers.runs(), 3);
}

#[tokio::test]
async fn a_final_failure_is_final_at_once() {
    for act in [Act::Fail(Cause::Refused), Act::Fail(Cause::ResultInvalid), Act::Pretend] {
        let world = World::new(&[act]);
        let gateway = world.gateway();
        let id = propose(&gateway, None).await.unwrap().id;
        check(
            &gateway,
            id,
            &[(None, None, "Failed EXECUTION_FAILED"), (Some("k"), None, "Failed EXECUTION_FAILED")],
        )
        .await;
        assert_eq!(world.handlers.runs(), 1);
    }
}

#[tokio::test]
async fn a_key_names_one_action_for_each_person() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let first = propose(&gateway, key("1")).await.unwrap().id;
    let second = propose(&gateway, key("2")).await.unwrap().id;
    check(&gateway, first, &[(Some("k"), None, "Succeeded")]).await;
    check(&gateway, second, &[(Some("k"), None, "IDEMPOTENCY_KEY_REUSED")]).await;
    let told = gateway.confirm(&bob(), second, key("k"), None).await.unwrap();
    assert_eq!(words(&told), "Succeeded", "another person's keys are other keys");
}

#[tokio::test]
async fn while_it_executes_the_same_key_waits_and_another_does_not() {
    let world = World::new(&[Act::Wait]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let confirm = |text: Option<&'static str>| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(
            async move { words(&gateway.confirm(&ann(), id, text.and_then(key), None).await.unwrap()) },
        )
    };
    let winner = confirm(Some("k"));
    world.handlers.started.notified().await;
    assert_eq!(confirm(Some("l")).await.unwrap(), "Conflict ACTION_EXECUTING");
    let waiters = [confirm(Some("k")), confirm(None)];
    tokio::task::yield_now().await;
    world.handlers.go_on.notify_one();
    assert_eq!(winner.await.unwrap(), "Succeeded");
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), "Replayed");
    }
    assert_eq!(world.handlers.runs(), 1);
}

#[tokio::test]
async fn two_hundred_at_once_execute_it_once() {
    let world = World::new(&[Act::CommitThenFail(Cause::TimedOut)]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let confirm = |_| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { words(&gateway.confirm(&ann(), id, None, None).await.unwrap()) })
    };
    let told: Vec<_> = (0..200).map(confirm).collect();
    let mut succeeded = 0;
    for told in told {
        match told.await.unwrap().as_str() {
            "Succeeded" => succeeded += 1,
            other => assert_eq!(other, "Replayed"),
        }
    }
    assert_eq!((succeeded, world.handlers.runs()), (1, 1));
}

#[tokio::test]
async fn losers_of_a_failed_race_do_not_spend_a_second_attempt() {
    let world = World::new(&[Act::Fail(Cause::Transient)]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let confirm = |_| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { words(&gateway.confirm(&ann(), id, None, Some(0)).await.unwrap()) })
    };
    let told: Vec<_> = (0..50).map(confirm).collect();
    for told in told {
        let told = told.await.unwrap();
        assert!(
            [
                "FailedRetryable EXECUTION_FAILED_RETRYABLE",
                "Conflict EXECUTION_FAILED_RETRYABLE",
                "Conflict ACTION_CHANGED"
            ]
            .contains(&told.as_str()),
            "{told}"
        );
    }
    assert_eq!(world.handlers.runs(), 1);
}

#[tokio::test]
async fn who_waited_for_a_place_past_the_expiry_does_not_spend_a_second_attempt() {
    let world = World::new(&[Act::Fail(Cause::Transient)]);
    world.handlers.holds.store(true, Ordering::SeqCst);
    let gateway = world.gateway_with(Settings { max_concurrent: 1, ..Settings::default() });
    let id = propose(&gateway, None).await.unwrap().id;
    let confirm = |person| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { words(&gateway.confirm(&person, id, None, None).await.unwrap()) })
    };
    let (first, second) = (confirm(ann()), confirm(bob()));
    world.handlers.started.notified().await;
    world.clock.advance(DAY);
    world.handlers.holds.store(false, Ordering::SeqCst);
    world.handlers.go_on.notify_one();
    assert_eq!(first.await.unwrap(), "FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(second.await.unwrap(), "Conflict EXECUTION_FAILED_RETRYABLE");
    assert_eq!(world.handlers.runs(), 1);
}

#[tokio::test]
async fn a_person_who_goes_away_does_not_stop_the_write() {
    let world = World::new(&[Act::Wait]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    {
        let ann = ann();
        let confirm = gateway.confirm(&ann, id, None, None);
        tokio::select! {
            biased;
            () = world.handlers.started.notified() => {}
            _ = confirm => panic!("it waits for the test"),
        }
    }
    let waiter = {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { words(&gateway.confirm(&bob(), id, None, None).await.unwrap()) })
    };
    world.handlers.go_on.notify_one();
    assert_eq!(waiter.await.unwrap(), "Replayed");
    assert_eq!(world.handlers.effects(), 1);
}

#[tokio::test]
async fn declined_and_expired_actions_never_run() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let declined = propose(&gateway, None).await.unwrap().id;
    for _ in 0..2 {
        let told = gateway.decline(&ann(), declined, Some("no".into())).await.unwrap();
        assert_eq!(words(&told), "Declined");
    }
    check(&gateway, declined, &[(None, None, "Conflict ACTION_DECLINED")]).await;

    let expired = propose(&gateway, None).await.unwrap().id;
    world.clock.advance(DAY);
    check(&gateway, expired, &[(None, None, "Conflict ACTION_EXPIRED")]).await;
    assert_eq!(words(&gateway.decline(&ann(), expired, None).await.unwrap()), "Conflict ACTION_EXPIRED");

    let swept = propose(&gateway, None).await.unwrap().id;
    world.clock.advance(DAY);
    gateway.sweep().await.unwrap();
    assert_eq!(world.stored(swept).state.status(), Status::Expired);
    assert_eq!(world.handlers.runs(), 0);
}

#[tokio::test]
async fn what_was_shown_and_changed_does_not_run() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    *world.handlers.outdated.lock().unwrap() = true;
    check(&gateway, id, &[(None, None, "Conflict ACTION_OUTDATED")]).await;
    assert_eq!(world.stored(id).state.attempts_used(), 0, "no attempt is used");
}

#[tokio::test]
async fn what_cannot_be_settled_stays_executing_until_it_can() {
    let world = World::new(&[Act::CommitThenFail(Cause::TimedOut)]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    *world.handlers.unreachable.lock().unwrap() = true;
    let told = gateway.confirm(&ann(), id, None, None).await.unwrap();
    assert_eq!(words(&told), "Conflict ACTION_EXECUTING");
    gateway.sweep().await.unwrap();
    assert_eq!(world.stored(id).state.status(), Status::Executing);
    *world.handlers.unreachable.lock().unwrap() = false;
    gateway.sweep().await.unwrap();
    check(&gateway, id, &[(None, None, "Replayed")]).await;
}

#[tokio::test]
async fn a_full_disk_takes_no_attempt_and_loses_no_end() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    world.actions.fail_next(1);
    assert_eq!(propose(&gateway, None).await.unwrap_err().code, Code::StorageFull);
    let id = propose(&gateway, None).await.unwrap().id;
    world.actions.fail_next(1);
    check(&gateway, id, &[(None, None, "STORAGE_FULL")]).await;
    assert_eq!((world.handlers.runs(), world.stored(id).state.attempts_used()), (0, 0));
    check(&gateway, id, &[(None, None, "Succeeded")]).await;
}

#[tokio::test]
async fn a_task_that_panics_is_settled_behind_its_back() {
    let world = World::new(&[Act::Panic, Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    check(&gateway, id, &[(None, None, "INTERNAL")]).await;
    gateway.sweep().await.unwrap();
    let action = world.stored(id);
    assert_eq!((action.state.status(), action.state.attempts_used()), (Status::Pending, 1));
    check(&gateway, id, &[(None, Some(1), "Succeeded")]).await;
}

#[tokio::test]
async fn a_proposal_repeated_is_one_action_and_another_one_is_refused() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let first = propose(&gateway, key("p")).await.unwrap();
    check(&gateway, first.id, &[(None, None, "Succeeded")]).await;
    let again = propose(&gateway, key("p")).await.unwrap();
    assert_eq!((again.id, again.state.status()), (first.id, Status::Succeeded), "whatever its state by then");
    let other = gateway.call(&agent(), "write", json("{\"n\":2}"), key("p")).await.unwrap_err();
    assert_eq!(other.code, Code::IdempotencyKeyReused);
    let fresh = propose(&gateway, None).await.unwrap();
    assert_ne!(fresh.id, first.id);
}

#[tokio::test]
async fn a_preview_that_is_told_refuses_and_one_that_breaks_does_not() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    *world.handlers.refuses_previews.lock().unwrap() = Some(Cause::Refused);
    assert_eq!(propose(&gateway, None).await.unwrap_err().code, Code::Refused);
    assert_eq!(world.actions.count(), 0);
    *world.handlers.refuses_previews.lock().unwrap() = Some(Cause::Trapped);
    let action = propose(&gateway, None).await.unwrap();
    assert!(matches!(action.proposal.preview, tether_core::action::Preview::Unavailable(_)));
}

#[tokio::test]
async fn a_read_is_retried_where_that_is_safe() {
    for (acts, expected, runs) in [
        (&[Act::Fail(Cause::Transient), Act::Fail(Cause::TimedOut), Act::Commit][..], Ok(3), 3),
        (&[Act::Fail(Cause::Transient)], Err(Code::UpstreamUnavailable), 3),
        (&[Act::Fail(Cause::TimedOut)], Err(Code::TimedOut), 3),
        (&[Act::Fail(Cause::Trapped)], Err(Code::HandlerTrapped), 1),
        (&[Act::Fail(Cause::Refused)], Err(Code::Refused), 1),
        (&[Act::Fail(Cause::Limit)], Err(Code::LimitExceeded), 1),
    ] {
        let world = World::new(acts);
        let told = match world.gateway().call(&agent(), "read", json("{}"), None).await {
            Ok(Called::Answer(answer)) => Ok(answer.attempts),
            Ok(Called::Proposed(action)) => panic!("a read became an action: {action:?}"),
            Err(problem) => Err(problem.code),
        };
        assert_eq!(told, expected, "{acts:?}");
        assert_eq!(world.handlers.runs(), runs, "{acts:?}");
    }
}

#[tokio::test]
async fn who_may_do_what() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    let forbidden = Code::Forbidden;
    assert_eq!(gateway.confirm(&agent(), id, None, None).await.unwrap_err().code, forbidden);
    assert_eq!(gateway.decline(&agent(), id, None).await.unwrap_err().code, forbidden);
    assert_eq!(gateway.call(&ann(), "write", json("{}"), None).await.unwrap_err().code, forbidden);
    let stranger = caller("agent-8", &[Role::Agent]);
    assert_eq!(gateway.action(&stranger, id).await.unwrap_err().code, Code::ActionNotFound);
    let mut elsewhere = ann();
    elsewhere.tenant = "other".parse().unwrap();
    let told = gateway.confirm(&elsewhere, id, None, None).await;
    assert_eq!(told.unwrap_err().code, Code::ActionNotFound);
    assert!(gateway.actions(&stranger, None, 10, None).await.unwrap().actions.is_empty());
}

#[tokio::test]
async fn overload_is_told_before_anything_is_attempted() {
    let world = World::new(&[Act::Wait]);
    let settings =
        Settings { max_concurrent: 1, queue_time: Duration::from_millis(1), ..Settings::default() };
    let gateway = world.gateway_with(settings);
    let first = propose(&gateway, key("1")).await.unwrap().id;
    let second = propose(&gateway, key("2")).await.unwrap().id;
    let running = {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { words(&gateway.confirm(&ann(), first, None, None).await.unwrap()) })
    };
    world.handlers.started.notified().await;
    check(&gateway, second, &[(None, None, "OVERLOADED")]).await;
    assert_eq!(world.stored(second).state.attempts_used(), 0);
    world.handlers.go_on.notify_one();
    assert_eq!(running.await.unwrap(), "Succeeded");
}

#[tokio::test]
async fn after_its_retention_a_result_is_gone_and_the_key_is_not() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    let id = propose(&gateway, None).await.unwrap().id;
    check(&gateway, id, &[(Some("k"), None, "Succeeded")]).await;
    world.clock.advance(31 * DAY);
    gateway.sweep().await.unwrap();
    check(&gateway, id, &[(Some("k"), None, "KEY_EXPIRED"), (None, None, "KEY_EXPIRED")]).await;
    assert_eq!(world.handlers.runs(), 1);
}
