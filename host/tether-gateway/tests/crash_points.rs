//! The host dies at every step of a confirmed write, and is started again.

mod world;

use tether_core::action::{Output, State, Status};
use tether_core::failure::Cause;
use tether_core::id::ActionId;
use tether_core::ledger::Effect;
use world::{Act, World, ann, key, propose, words};

/// One life that proposes and survives.
fn proposed(world: &World) -> ActionId {
    world.live(async |gateway| propose(&gateway, key("p")).await.unwrap().id).expect("no fuse was set")
}

/// What must hold once the host has recovered, however its last life ended.
fn check_settled(world: &World, id: ActionId, when: &str) {
    let action = world.stored(id);
    let effects = world.handlers.effects();
    assert_ne!(action.state.status(), Status::Executing, "{when}: settled");
    assert!(effects <= 1, "{when}: one effect at most");
    match &action.state {
        State::Succeeded { output, .. } => {
            assert_eq!(effects, 1, "{when}: a success is recorded");
            assert_eq!(
                *output,
                Output::Kept(world::json("{\"recorded\":1}")),
                "{when}: what was recorded counts"
            );
            assert_eq!(action.effect(), Some(Effect::Applied), "{when}");
        }
        _ => {
            assert_eq!(effects, 0, "{when}: what is not a success left no effect");
            let steps = !action.ledger.entries().is_empty();
            let expected = (action.state.attempts_used() > 0).then_some(if steps {
                Effect::Applied
            } else {
                Effect::None
            });
            assert_eq!(action.effect(), expected, "{when}: the person is told the truth");
        }
    }
}

/// Confirms with the fuse at each step in turn; then a second life recovers, a
/// person confirms again, and all is well.
fn die_everywhere(acts: &[Act], steps_expected: usize) {
    let mut steps = 0;
    loop {
        let world = World::new(acts);
        let id = proposed(&world);
        world.fuse.set(steps + 1);
        let survived =
            world.live(async move |gateway| gateway.confirm(&ann(), id, key("c"), None).await).is_some();
        let when = format!("{acts:?}, dead at step {}", steps + 1);

        world.fuse.set(0);
        world.live(async |gateway| gateway.recover().await.unwrap());
        check_settled(&world, id, &when);

        let status = world.stored(id).state.status();
        let again = world
            .live(async move |gateway| words(&gateway.confirm(&ann(), id, key("c"), None).await.unwrap()));
        check_settled(&world, id, &when);
        if status == Status::Succeeded {
            assert_eq!(again.unwrap(), "Replayed", "{when}");
        }
        if survived {
            break;
        }
        steps += 1;
    }
    assert_eq!(steps, steps_expected, "{acts:?} passes as many steps as somebody counted by hand");
}

#[test]
fn a_write_that_commits() {
    // claim 2, handler 1, commit 2, records 1, end 2
    die_everywhere(&[Act::Commit], 8);
}

#[test]
fn a_write_that_fails_after_its_commit() {
    for cause in [Cause::TimedOut, Cause::Trapped, Cause::Failed, Cause::Refused] {
        die_everywhere(&[Act::CommitThenFail(cause)], 8);
    }
}

#[test]
fn a_write_that_fails_before_its_commit() {
    for cause in [Cause::TimedOut, Cause::Trapped, Cause::Transient, Cause::Refused] {
        // claim 2, handler 1, records 1, end 2
        die_everywhere(&[Act::Fail(cause), Act::Commit], 6);
    }
}

#[test]
fn a_write_that_commits_a_step_and_fails() {
    die_everywhere(&[Act::StepThenFail(Cause::TimedOut), Act::Commit], 8);
}

#[test]
fn a_proposal_is_kept_whole_or_not_at_all_and_can_be_repeated() {
    for step in 1..=2 {
        let world = World::new(&[Act::Commit]);
        world.fuse.set(step);
        let told = world.live(async |gateway| propose(&gateway, key("p")).await.unwrap().id);
        assert!(told.is_none(), "dead at step {step}");
        world.fuse.set(0);
        let first = proposed(&world);
        let second = proposed(&world);
        assert_eq!(first, second);
        assert_eq!(world.actions.count(), 1, "dead at step {step}");
    }
}

#[test]
fn a_host_that_dies_again_and_again_uses_up_three_attempts() {
    let world = World::new(&[Act::Fail(Cause::TimedOut)]);
    let id = proposed(&world);
    for attempt in 1..=3 {
        world.fuse.set(3); // in the handler
        assert!(world.live(async move |gateway| gateway.confirm(&ann(), id, None, None).await).is_none());
        world.fuse.set(0);
        world.live(async |gateway| gateway.recover().await.unwrap());
        assert_eq!(world.stored(id).state.attempts_used(), attempt);
    }
    let told =
        world.live(async move |gateway| words(&gateway.confirm(&ann(), id, None, None).await.unwrap()));
    assert_eq!(told.unwrap(), "Failed EXECUTION_ATTEMPTS_EXHAUSTED");
    assert_eq!(world.handlers.runs(), 3);
}

#[test]
fn recovery_dies_as_well_and_is_done_again() {
    for step in 1..=3 {
        let world = World::new(&[Act::CommitThenFail(Cause::TimedOut)]);
        let id = proposed(&world);
        world.fuse.set(6); // after the commit, before the records are asked
        assert!(world.live(async move |gateway| gateway.confirm(&ann(), id, None, None).await).is_none());
        world.fuse.set(step);
        assert!(world.live(async |gateway| gateway.recover().await).is_none());
        world.fuse.set(0);
        world.live(async |gateway| gateway.recover().await.unwrap());
        check_settled(&world, id, &format!("recovery dead at step {step}"));
        assert_eq!(world.stored(id).state.status(), Status::Succeeded);
    }
}
