//! Sweepers beside the tasks whose attempts they must leave alone, or settle.

use tether_core::action::{State, Status};
use tether_core::problem::Code;
use tether_interleavings::Told;

use crate::check;
use crate::handlers::Act;
use crate::world::{World, live};

#[test]
fn a_sweeper_leaves_an_attempt_alone_whose_task_lives() {
    check("a sweeper", || {
        live(async {
            // Without a record, only the task knows how it went.
            let world = World::new(&[Act::Return]);
            let id = world.actions.add();
            let sweepers = [world.sweep(), world.sweep()];
            let person = world.confirm(id, None, None);
            for sweeper in sweepers {
                sweeper.await.unwrap();
            }
            assert_eq!(person.await.unwrap(), Ok(Told::Succeeded));
            assert_eq!(world.handlers.effects(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn what_a_dead_task_left_is_settled_and_who_waits_is_told() {
    check("a dead task", || {
        live(async {
            let world = World::new(&[Act::Die]);
            let id = world.actions.add();
            let people = [world.confirm(id, None, Some(0)), world.confirm(id, None, Some(0))];
            let sweepers = [world.sweep(), world.sweep()];
            world.handlers.death().await;
            for sweeper in sweepers {
                sweeper.await.unwrap();
            }
            // Whoever tries to claim it now, in vain, keeps sweepers away for that long.
            while world.actions.peek(id).state.status() == Status::Executing {
                world.gateway.idle().await;
                world.gateway.sweep().await.unwrap();
            }
            for person in people {
                let answer = person.await.unwrap();
                let allowed = [
                    Err(Code::Internal),
                    Ok(Told::Conflict(Code::ExecutionFailedRetryable)),
                    Ok(Told::Conflict(Code::ActionChanged)),
                ];
                assert!(allowed.contains(&answer), "{answer:?}");
            }
            assert_eq!(world.handlers.runs(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn the_end_of_one_attempt_is_never_taken_for_that_of_another() {
    check("two sweepers", || {
        live(async {
            let world = World::new(&[Act::Fail, Act::Return]);
            let id = world.actions.add();
            // Neither attempt is settled by its own task.
            world.handlers.stay_away();
            let first = world.confirm(id, None, Some(0)).await.unwrap();
            assert_eq!(first, Ok(Told::Conflict(Code::ActionExecuting)));
            let sweepers = [world.sweep(), world.sweep()];
            let second = world.confirm(id, None, Some(1));
            for sweeper in sweepers {
                sweeper.await.unwrap();
            }
            let _ = second.await.unwrap();
            world.gateway.sweep().await.unwrap();
            let action = world.rest(id).await;
            let succeeded = matches!(action.state, State::Succeeded { .. });
            assert_eq!(succeeded, world.handlers.effects() == 1, "{:?}", action.state);
        });
    });
}
