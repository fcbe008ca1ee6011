//! The host dies at every step of a confirmed write, and is started again.

mod world;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tether_core::action::{Output, State, Status};
use tether_core::failure::Cause;
use tether_core::id::ActionId;
use tether_core::ledger::{Answer, Effect, Entry, Fact};
use tether_gateway::Told;
use world::{Act, Then, World, ann, key, propose, words};

/// One life that proposes and survives.
fn proposed(world: &World) -> ActionId {
    world.live(async |gateway| propose(&gateway, key("p")).await.unwrap().id).expect("no fuse was set")
}

/// What must hold once the host has recovered, however its last life ended.
fn check_settled(world: &World, id: ActionId, when: &str) {
    let action = world.stored(id);
    let (effects, sent) = (world.handlers.effects(), world.handlers.sent());
    let (mut committed, mut noted) = (false, false);
    for entry in action.ledger.entries() {
        match entry.fact {
            Fact::Committed { .. } => committed = true,
            Fact::Sent { .. } => noted = true,
        }
    }
    assert_ne!(action.state.status(), Status::Executing, "{when}: settled");
    assert!(effects <= 1, "{when}: one effect at most");
    assert!(noted || sent == 0, "{when}: what was sent was noted");
    match &action.state {
        State::Succeeded { output, .. } => {
            assert_eq!(effects, 1, "{when}: a success is recorded");
            assert_eq!(
                *output,
                Output::Kept(world::json("{\"recorded\":1}")),
                "{when}: what was recorded counts"
            );
            assert!(
                action.effect() == Some(Effect::Applied) || noted && action.effect() == Some(Effect::Unknown),
                "{when}: nothing but a request puts a success in doubt"
            );
        }
        _ => {
            assert_eq!(effects, 0, "{when}: what is not a success left no effect");
            let expected = match (noted, committed) {
                (true, _) => Effect::Unknown,
                (false, true) => Effect::Applied,
                (false, false) => Effect::None,
            };
            let expected = (action.state.attempts_used() > 0).then_some(expected);
            assert_eq!(action.effect(), expected, "{when}: the person is told the truth");
        }
    }
}

/// Deaths of one action's host, one after the other.
const DEATHS: usize = 2;

/// How it ended, once and for all, and what that came to.
type End = OnceLock<(Status, Option<Effect>)>;

/// A life that recovers, and in which a person confirms; dead at `step`, unless it takes
/// fewer. Whether it survived. Somebody who lives longer `was_told` of an end.
fn confirmed(world: &World, id: ActionId, was_told: &Arc<End>, step: usize, when: &str) -> bool {
    world.fuse.set(step);
    let (there, was_told, when) = (world.clone(), Arc::clone(was_told), when.to_owned());
    let lived = world.live(async move |gateway| {
        let sent = there.handlers.sent();
        gateway.recover().await.unwrap();
        check_settled(&there, id, &when);
        assert_eq!(there.handlers.sent(), sent, "{when}: nothing is sent again by itself");

        let stored = there.stored(id);
        let status = stored.state.status();
        if let Some(ended) = was_told.get() {
            assert_eq!((status, stored.effect()), *ended, "{when}: as it was told");
        }
        let outcome = gateway.confirm(&ann(), id, key("c"), None).await.unwrap();
        if matches!(outcome.told, Told::Succeeded | Told::Failed) {
            was_told.get_or_init(|| (outcome.action.state.status(), outcome.action.effect()));
        }
        let told = words(&outcome);
        gateway.idle().await; // what was told may be being written yet
        check_settled(&there, id, &when);
        if status == Status::Succeeded {
            assert_eq!(told, "Replayed", "{when}");
        }
    });
    world.fuse.set(0);
    lived.is_some()
}

/// One life for each of `deaths`, the steps at which they end, and one that survives.
/// Whether the last of them survived as well.
fn lives(acts: &[Act], deaths: &[usize]) -> bool {
    let world = World::new(acts);
    let id = proposed(&world);
    let when = format!("{acts:?}, dead at {deaths:?}");
    let was_told = Arc::default();
    let survived = deaths.iter().fold(false, |_, step| confirmed(&world, id, &was_told, *step, &when));
    assert!(confirmed(&world, id, &was_told, 0, &when));
    survived
}

/// Dies at each step in turn after `deaths`, and there again. The steps that this life
/// takes.
fn die_after(acts: &[Act], deaths: &mut Vec<usize>) -> usize {
    for step in 1.. {
        deaths.push(step);
        let survived = lives(acts, deaths);
        if !survived && deaths.len() < DEATHS {
            die_after(acts, deaths);
        }
        deaths.pop();
        if survived {
            return step - 1;
        }
    }
    unreachable!("every life ends")
}

/// Confirms a write whose host dies at each step, and then at each step of the life in
/// which that is recovered and confirmed again; the life after that survives, and all is
/// well in each of them.
fn die_everywhere(acts: &[Act], steps_expected: usize) {
    let steps = die_after(acts, &mut Vec::new());
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
fn a_write_that_sends_and_fails() {
    for cause in [Cause::TimedOut, Cause::Trapped] {
        for answer in [Answer::Status(200), Answer::InDoubt] {
            // claim 2, handler 1, note 2, send 2, records 1, end 2
            die_everywhere(&[Act::Send(answer, Then::Fail(cause)), Act::Commit], 10);
        }
    }
}

#[test]
fn a_write_that_sends_and_commits() {
    // claim 2, handler 1, note 2, send 2, commit 2, records 1, end 2
    die_everywhere(&[Act::Send(Answer::Status(200), Then::Commit)], 12);
}

#[test]
fn what_was_noted_and_not_answered_before_a_crash_is_in_doubt() {
    // claim 2, handler 1, note 2: dead between the note and the request, or after it.
    for (step, sent) in [(6, 0), (7, 1)] {
        let world = World::new(&[Act::Send(Answer::Status(200), Then::Commit)]);
        let id = proposed(&world);
        world.fuse.set(step);
        assert!(world.live(async move |gateway| gateway.confirm(&ann(), id, None, None).await).is_none());
        world.fuse.set(0);
        world.live(async |gateway| gateway.recover().await.unwrap());
        let action = world.stored(id);
        let [Entry { attempt: 1, fact: Fact::Sent { answer, .. }, .. }] = action.ledger.entries() else {
            panic!("{:?}", action.ledger)
        };
        assert_eq!((*answer, world.handlers.sent()), (Answer::InDoubt, sent));
        assert_eq!((action.state.status(), action.effect()), (Status::Pending, Some(Effect::Unknown)));
    }
}

#[test]
fn texts_are_erased_and_records_emptied_whenever_the_host_dies() {
    let mut step = 0;
    loop {
        let world = World::new(&[Act::Commit]);
        let id = proposed(&world);
        world.live(async move |gateway| {
            gateway.confirm(&ann(), id, None, None).await.unwrap();
            gateway.idle().await;
        });
        world.clock.advance(Duration::from_secs(31 * 24 * 3600));
        step += 1;
        world.fuse.set(step);
        let survived = world.live(async |gateway| gateway.sweep().await.unwrap()).is_some();
        world.fuse.set(0);
        world.live(async |gateway| gateway.sweep().await.unwrap());
        let State::Succeeded { output: Output::Erased, .. } = world.stored(id).state else {
            panic!("dead at step {step}: it is kept")
        };
        assert!(world.handlers.emptied.lock().unwrap().contains(&id.into()), "dead at step {step}");
        assert!(world.stored(id).proposal.arguments.kept().is_none(), "dead at step {step}");
        if survived {
            break;
        }
    }
    assert_eq!(step, 9, "erase 2, empty 2, note 2, erase the arguments 2");
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
