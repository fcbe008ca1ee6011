//! One attempt of a write: what it does, what it records, what it may not.

use std::time::Duration;

use tether_core::failure::Cause;
use tether_core::invocation::Invocation;
use tether_core::port::databases::SqlError;
use tether_core::port::handlers::{Handlers, WriteReport};

use crate::world::{World, call, probe, probe_with, tenant};

/// Runs a write once, and says what it left: its report, its effects, and the
/// output of its main record.
async fn run(world: &World, call: Invocation) -> (WriteReport, Vec<String>, Option<String>) {
    let (binding, key) = (world.binding(call.tool.as_str()), call.request_id);
    let report = world.write(call).await;
    let records = world.runner.records(&tenant(), &binding, key).await.unwrap();
    let main = records.into_iter().find(|record| record.step.is_none());
    assert_eq!(world.databases.alive(), 0, "nothing of it is left open");
    (report, world.databases.effects(), main.map(|record| record.output.as_str().to_owned()))
}

#[track_caller]
fn misbehaving(then: &str, when: &str) -> Invocation {
    let arguments = format!(r#"{{"note":"n","then":"{then}","when":"{when}"}}"#);
    Invocation { timeout: Duration::from_millis(300), ..call("probe_write", &arguments, 1) }
}

#[tokio::test(flavor = "multi_thread")]
async fn before_its_commit_nothing_is_done_and_after_it_all() {
    let ends = [
        ("trap", Cause::Trapped),
        ("spin", Cause::TimedOut),
        ("sleep:60000", Cause::TimedOut),
        ("transient", Cause::Transient),
        ("refuse", Cause::Refused),
        ("fail", Cause::Failed),
    ];
    for (then, cause) in ends {
        for (when, done) in [("before", false), ("after", true)] {
            let world = probe().await;
            let (report, effects, main) = run(&world, misbehaving(then, when)).await;
            assert_eq!(report.result.unwrap_err().cause, cause, "{then} {when}");
            assert!(report.began_main, "{then} {when}");
            assert_eq!((effects.len(), main.is_some()), (done.into(), done), "{then} {when}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_recorded_with_its_output() {
    let world = probe().await;
    let (report, effects, main) = run(&world, misbehaving("ok", "after")).await;
    assert_eq!(report.result.unwrap().as_str(), r#"{"id":1,"attempt":1}"#);
    assert!(report.began_main);
    assert_eq!((effects.len(), main.as_deref()), (1, Some(r#"{"id":1,"attempt":1}"#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_attempt_finds_the_record_of_the_first() {
    let world = probe().await;
    let first = misbehaving("trap", "after");
    let second = Invocation { attempt: 2, ..first.clone() };
    run(&world, first).await.0.result.unwrap_err();
    let (report, effects, main) = run(&world, second).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::Trapped, "told to, again");
    assert!(!report.began_main, "it was there");
    assert_eq!((effects.len(), main.as_deref()), (1, Some(r#"{"id":1,"attempt":1}"#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_done_once_and_gone_on_from() {
    let world = probe().await;
    let first = call("probe_steps", r#"{"steps":2,"stop_after":1}"#, 1);
    let second = Invocation { attempt: 2, ..first.clone() };
    let (report, effects, main) = run(&world, first).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::Transient);
    assert!(!report.began_main, "a step is not the main transaction");
    assert_eq!((effects.as_slice(), main), (["step-1".to_owned()].as_slice(), None));
    let (report, effects, main) = run(&world, second).await;
    assert!(report.result.is_ok() && report.began_main && main.is_some());
    assert_eq!(effects, ["step-1", "step-2", "main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_cannot_be_told_undoes_the_write() {
    let world = probe_with(|settings| settings.max_response_bytes = 1000).await;
    let big = |bytes: usize| call("probe_big_write", &format!(r#"{{"bytes":{bytes},"emoji":true}}"#), 1);
    let (report, effects, main) = run(&world, big(1001)).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::ResultTooLarge);
    assert_eq!((effects.len(), main), (0, None));
    let (report, effects, main) = run(&world, call("probe_lie_write", "{}", 1)).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::ResultInvalid);
    assert_eq!((effects.len(), main), (0, None));
    let (report, effects, _) = run(&world, big(1000)).await;
    assert_eq!((report.result.unwrap().as_str().len(), effects.len()), (1000, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_transaction_at_a_time_and_none_after_the_main_record() {
    let world = probe().await;
    let (report, ..) = run(&world, call("probe_two_at_once", "{}", 1)).await;
    assert!(report.result.unwrap().as_str().contains("a transaction of this call is open"));
    let (report, effects, _) = run(&world, call("probe_after_main", "{}", 1)).await;
    assert!(report.result.unwrap().as_str().contains("nothing may begin after it"));
    assert_eq!(effects, ["main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ok_without_a_record_says_whether_it_began() {
    let world = probe().await;
    let (report, effects, main) = run(&world, call("probe_no_record", "{}", 1)).await;
    assert!(report.result.is_ok() && report.began_main);
    assert_eq!((effects.len(), main), (0, None));
    let (report, ..) = run(&world, call("probe_nothing", "{}", 1)).await;
    assert!(report.result.is_ok() && !report.began_main);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_constraint_that_is_caught_ends_nothing() {
    let world = probe().await;
    let (report, effects, _) = run(&world, call("probe_constraint", "{}", 1)).await;
    assert!(report.result.is_ok(), "{report:?}");
    assert_eq!(effects, ["after a constraint"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_knows_of_a_database_is_told() {
    let world = probe().await;
    let failing = async |trouble: SqlError| {
        world.databases.set_trouble(trouble);
        let failure = run(&world, misbehaving("ok", "after")).await.0.result.unwrap_err();
        (failure.cause, failure.handler_code.unwrap())
    };
    let away = SqlError::Unreachable("its file is gone".into());
    assert_eq!(failing(away).await, (Cause::Unreachable, "DATABASE_FAILED".into()));
    assert_eq!(failing(SqlError::StorageFull).await, (Cause::StorageFull, "STORAGE_FULL".into()));
    assert_eq!(failing(SqlError::Busy).await, (Cause::Transient, "DATABASE_BUSY".into()));
    let other = SqlError::Other("what the engine said".into());
    assert_eq!(failing(other).await, (Cause::Failed, "DATABASE_FAILED".into()));
}
