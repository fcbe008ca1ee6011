//! People who confirm the same action at the same time.

use shuttle::future::yield_now;
use tether_core::action::Status;
use tether_core::id::ActionId;
use tether_core::problem::Code;
use tether_interleavings::Told;

use crate::check;
use crate::handlers::Act;
use crate::world::{World, all, count, live, person};

#[test]
fn two_with_one_key_are_one_effect_and_its_replay() {
    check("one key", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add();
            let answers =
                all(vec![world.confirm(id, Some("k"), None), world.confirm(id, Some("k"), None)]).await;
            assert_eq!(count(&answers, Ok(Told::Succeeded)), 1, "{answers:?}");
            assert_eq!(count(&answers, Ok(Told::Replayed)), 1, "{answers:?}");
            assert_eq!(world.handlers.effects(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn who_waited_for_an_attempt_that_failed_never_claims() {
    check("a failure", || {
        live(async {
            let world = World::new(&[Act::Fail]);
            let id = world.actions.add();
            let answers = all((0..3).map(|_| world.confirm(id, None, Some(0))).collect()).await;
            assert_eq!(count(&answers, Ok(Told::FailedRetryable)), 1, "{answers:?}");
            // Told so by the wait, or by the number of attempts where it came later.
            let [waited, late] = [Code::ExecutionFailedRetryable, Code::ActionChanged]
                .map(|code| count(&answers, Ok(Told::Conflict(code))));
            assert_eq!(waited + late, 2, "{answers:?}");
            assert_eq!(world.handlers.runs(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn every_attempt_is_of_one_confirmation() {
    check("no keys", || {
        live(async {
            let world = World::new(&[Act::Fail, Act::Commit, Act::Commit]);
            let id = world.actions.add();
            let answers = all((0..3).map(|_| world.confirm(id, None, None)).collect()).await;
            let failed = count(&answers, Ok(Told::FailedRetryable));
            let succeeded = count(&answers, Ok(Told::Succeeded));
            assert_eq!(failed, 1, "{answers:?}");
            assert_eq!(world.handlers.runs(), failed + succeeded, "{answers:?}");
            assert_eq!(world.handlers.effects(), succeeded, "{answers:?}");
            world.rest(id).await;
        });
    });
}

#[test]
fn of_different_keys_one_wins_and_the_others_are_told_so() {
    check("different keys", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add();
            let answers = all(["k", "l", "m"].map(|key| world.confirm(id, Some(key), None)).into()).await;
            assert_eq!(count(&answers, Ok(Told::Succeeded)), 1, "{answers:?}");
            let [executing, decided] = [Code::ActionExecuting, Code::ActionDecided]
                .map(|code| count(&answers, Ok(Told::Conflict(code))));
            assert_eq!(executing + decided, 2, "{answers:?}");
            assert_eq!(world.handlers.effects(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn a_key_names_one_of_two_actions() {
    check("two actions", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let ids = [world.actions.add(), world.actions.add()];
            let answers = all(ids.map(|id| world.confirm(id, Some("k"), None)).into()).await;
            assert_eq!(count(&answers, Ok(Told::Succeeded)), 1, "{answers:?}");
            assert_eq!(count(&answers, Err(Code::IdempotencyKeyReused)), 1, "{answers:?}");
            assert_eq!(world.handlers.effects(), 1);
        });
    });
}

/// Somebody was told that it succeeded.
async fn succeeded() -> (World, ActionId) {
    let world = World::new(&[Act::Commit]);
    let id = world.actions.add();
    assert_eq!(world.confirm(id, Some("k"), None).await.unwrap(), Ok(Told::Succeeded));
    (world, id)
}

#[test]
fn who_was_told_of_an_end_finds_it() {
    check("told, then looked at", || {
        live(async {
            let (world, id) = succeeded().await;
            let found = world.gateway.action(&person(), id).await.unwrap();
            assert_eq!(found.state.status(), Status::Succeeded);
        });
    });
    check("told, then listed", || {
        live(async {
            let (world, _) = succeeded().await;
            let page = world.gateway.actions(&person(), Some(Status::Succeeded), 10, None).await.unwrap();
            assert_eq!(page.actions.len(), 1);
        });
    });
    check("told, then confirmed with another key", || {
        live(async {
            let (world, id) = succeeded().await;
            let other = world.confirm(id, Some("l"), None).await.unwrap();
            assert_eq!(other, Ok(Told::Conflict(Code::ActionDecided)));
        });
    });
}

#[test]
fn a_yes_and_a_no_are_one_of_them() {
    check("a decline", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add();
            let yes = world.confirm(id, None, None);
            let no = world.gateway.decline(&person(), id, None).await.unwrap().told;
            let yes = yes.await.unwrap();
            let declined = no == Told::Declined;
            let expected = if declined { Told::Conflict(Code::ActionDeclined) } else { Told::Succeeded };
            assert_eq!(yes, Ok(expected));
            assert_eq!(world.handlers.effects(), usize::from(!declined));
            world.rest(id).await;
        });
    });
}

#[test]
fn who_goes_away_takes_nothing_along() {
    check("a lost connection", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add();
            let people = [world.confirm(id, Some("k"), None), world.confirm(id, Some("k"), None)];
            people[0].abort();
            for person in people {
                let _ = person.await;
            }
            world.gateway.idle().await;
            let left = world.rest(id).await.state.status();
            let again = world.confirm(id, Some("k"), None).await.unwrap();
            let expected = if left == Status::Pending { Told::Succeeded } else { Told::Replayed };
            assert_eq!(again, Ok(expected));
            assert_eq!(world.handlers.effects(), 1);
        });
    });
}

#[test]
fn idle_is_when_nothing_runs_that_came_before() {
    check("idle", || {
        live(async {
            let world = World::new(&[Act::Commit, Act::Commit]);
            let ids = [world.actions.add(), world.actions.add()];
            let people = ids.map(|id| world.confirm(id, None, None));
            for person in &people {
                person.abort();
            }
            for person in people {
                let _ = person.await;
            }
            world.gateway.idle().await;
            for id in ids {
                world.rest(id).await;
            }
            world.handlers.close();
            for _ in 0..20 {
                yield_now().await;
            }
        });
    });
}
