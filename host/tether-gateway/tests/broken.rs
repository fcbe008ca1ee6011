//! What cannot be written keeps nothing else from being looked after.

mod world;

use std::time::Duration;

use tether_core::action::{Output, State, Status};
use tether_core::id::ActionId;
use world::{Act, World, ann, propose};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Several parts of a list.
const BROKEN: usize = 450;

/// So many proposals, the oldest of which are [`BROKEN`]; those that are not.
async fn with_broken(world: &World, sound: usize, broken: usize) -> Vec<ActionId> {
    let gateway = world.gateway();
    for _ in 0..broken {
        propose(&gateway, None).await.unwrap();
    }
    world.actions.break_all(&world.actions.all());
    world.clock.advance(Duration::from_millis(1));
    let mut ids = Vec::new();
    for _ in 0..sound {
        ids.push(propose(&gateway, None).await.unwrap().id);
    }
    ids
}

#[tokio::test]
async fn what_is_overdue_behind_many_that_are_broken_expires_in_one_round() {
    let world = World::new(&[Act::Commit]);
    let sound = with_broken(&world, 3, BROKEN).await;
    world.clock.advance(DAY);
    world.gateway().sweep().await.unwrap();
    for id in sound {
        assert_eq!(world.stored(id).state.status(), Status::Expired);
    }
}

#[tokio::test]
async fn a_round_looks_at_so_many_and_the_next_one_goes_on_there() {
    let world = World::new(&[Act::Commit]);
    let sound = with_broken(&world, 1, 2_050).await;
    let gateway = world.gateway();
    world.clock.advance(DAY);
    gateway.sweep().await.unwrap();
    assert_eq!(world.actions.refused(), 2_000);
    gateway.sweep().await.unwrap();
    assert_eq!(world.stored(sound[0]).state.status(), Status::Expired);
}

#[tokio::test]
async fn what_is_broken_is_tried_again_once_a_minute_and_what_comes_is_not_kept_waiting() {
    let world = World::new(&[Act::Commit]);
    with_broken(&world, 0, BROKEN).await;
    let gateway = world.gateway();
    world.clock.advance(DAY);
    for _ in 0..9 {
        gateway.sweep().await.unwrap();
    }
    assert_eq!(world.actions.refused(), BROKEN);
    let id = propose(&gateway, None).await.unwrap().id;
    world.clock.advance(DAY);
    for _ in 0..9 {
        gateway.sweep().await.unwrap();
    }
    assert_eq!(world.actions.refused(), 2 * BROKEN);
    assert_eq!(world.stored(id).state.status(), Status::Expired);
}

#[tokio::test]
async fn what_cannot_be_erased_keeps_nothing_else_from_it() {
    let world = World::new(&[Act::Commit]);
    let gateway = world.gateway();
    for _ in 0..BROKEN {
        let id = propose(&gateway, None).await.unwrap().id;
        gateway.confirm(&ann(), id, None, None).await.unwrap();
    }
    let broken = world.actions.all();
    world.actions.break_all(&broken);
    world.clock.advance(Duration::from_millis(1));
    let sound = propose(&gateway, None).await.unwrap().id;
    gateway.confirm(&ann(), sound, None, None).await.unwrap();
    world.clock.advance(31 * DAY);
    gateway.sweep().await.unwrap();
    let is_kept = |id| {
        let action = world.stored(id);
        let State::Succeeded { output, .. } = action.state else { panic!("it succeeded") };
        (matches!(output, Output::Kept(_)), action.proposal.arguments.kept().is_some())
    };
    assert_eq!((is_kept(sound), is_kept(broken[0])), ((false, false), (true, true)));
    assert_eq!(world.handlers.emptied.lock().unwrap().len(), 1);
}
