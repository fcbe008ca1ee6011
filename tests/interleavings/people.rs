//! Writes that take two persons, who say yes at the same time.

use tether_core::action::Status;
use tether_core::problem::Code;
use tether_interleavings::Told;

use crate::check;
use crate::handlers::Act;
use crate::world::{World, all, count, live, person};

#[test]
fn of_two_at_once_one_approves_and_the_other_begins_the_attempt() {
    check("two persons", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add_of(2);
            let people = ["ann", "bob"].map(|user| world.confirm_by(user, id, Some(user), Some(0)));
            let answers = all(people.into()).await;
            assert_eq!(count(&answers, Ok(Told::Approved)), 1, "{answers:?}");
            assert_eq!(count(&answers, Ok(Told::Succeeded)), 1, "{answers:?}");
            assert_eq!(world.handlers.effects(), 1);
            assert_eq!(world.rest(id).await.state.approvals().len(), 1);
        });
    });
}

#[test]
fn a_person_with_two_tabs_is_one_person() {
    check("two tabs", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add_of(2);
            let answers = all(["k", "k", "l"].map(|key| world.confirm(id, Some(key), None)).into()).await;
            assert_eq!(count(&answers, Ok(Told::Approved)), 3, "{answers:?}");
            assert_eq!((world.handlers.runs(), world.rest(id).await.state.approvals().len()), (0, 1));
        });
    });
}

#[test]
fn of_three_where_two_are_enough_one_comes_too_late() {
    check("three persons", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add_of(2);
            let people = ["ann", "bob", "cat"].map(|user| world.confirm_by(user, id, Some(user), None));
            let answers = all(people.into()).await;
            assert_eq!(count(&answers, Ok(Told::Approved)), 1, "{answers:?}");
            assert_eq!(count(&answers, Ok(Told::Succeeded)), 1, "{answers:?}");
            let [executing, decided] = [Code::ActionExecuting, Code::ActionDecided]
                .map(|code| count(&answers, Ok(Told::Conflict(code))));
            assert_eq!(executing + decided, 1, "{answers:?}");
            assert_eq!(world.handlers.effects(), 1);
            world.rest(id).await;
        });
    });
}

#[test]
fn after_a_failure_it_takes_two_again() {
    check("two persons and a failure", || {
        live(async {
            let world = World::new(&[Act::Fail, Act::Commit]);
            let id = world.actions.add_of(2);
            let people = ["ann", "bob"].map(|user| world.confirm_by(user, id, None, None));
            let answers = all(people.into()).await;
            assert_eq!(count(&answers, Ok(Told::Approved)), 1, "{answers:?}");
            assert_eq!(count(&answers, Ok(Told::FailedRetryable)), 1, "{answers:?}");
            assert_eq!(world.rest(id).await.state.approvals(), []);
            assert_eq!(world.confirm_by("cat", id, None, None).await.unwrap(), Ok(Told::Approved));
            assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 0));
        });
    });
}

#[test]
fn a_yes_that_comes_again_is_none_to_another_attempt() {
    check("a repetition and a failure", || {
        live(async {
            let world = World::new(&[Act::Fail, Act::Commit]);
            let id = world.actions.add_of(2);
            let people = ["ann", "ann", "bob"].map(|user| world.confirm_by(user, id, Some(user), None));
            let answers = all(people.into()).await;
            assert_eq!(count(&answers, Ok(Told::FailedRetryable)), 1, "{answers:?}");
            assert_eq!(world.rest(id).await.state.approvals(), [], "{answers:?}");
            assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 0));
        });
    });
}

#[test]
fn a_no_beside_two_yes_is_one_of_them() {
    check("two persons and a no", || {
        live(async {
            let world = World::new(&[Act::Commit]);
            let id = world.actions.add_of(2);
            let people = ["ann", "bob"].map(|user| world.confirm_by(user, id, None, None));
            let no = world.gateway.decline(&person(), id, None).await.unwrap().told;
            let answers = all(people.into()).await;
            let declined = no == Told::Declined;
            let late = count(&answers, Ok(Told::Conflict(Code::ActionDeclined)));
            assert_eq!(late > 0, declined, "{answers:?}, {no:?}");
            assert_eq!(world.handlers.effects(), usize::from(!declined));
            let status = world.rest(id).await.state.status();
            assert_eq!(status, if declined { Status::Declined } else { Status::Succeeded });
        });
    });
}
