//! Limits that only a component written as text can reach, and those of databases.
//! Others are among the endings. A neighbour notices none of them.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tether_core::failure::{Cause, Failure};
use tether_core::invocation::Invocation;
use tether_core::port::databases::SqlLimits;
use tether_core::port::handlers::Handlers;
use tether_runner::Settings;
use tether_store::SqliteDatabases;

use crate::text::{Manifest, Tool, calling, flooding, instances};
use crate::world::{Folder, World, call, probe_with, tenant};

/// Never comes to an end by itself.
const ENDLESS: &str =
    r#"{"sql":"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}"#;

const SHORT: Duration = Duration::from_millis(400);

fn manifest() -> Manifest {
    Manifest { tools: vec![Tool::default()], ..Manifest::default() }
}

/// How the only tool of a component ends.
async fn ending(bytes: &[u8]) -> Failure {
    let folder = Folder::new();
    let mut settings = Settings::new(folder.path());
    settings.max_instances = 2;
    let world = World::new(settings);
    world.load("hostile", bytes).await.unwrap();
    let failure = world.read("tool", "{}").await.unwrap_err();
    assert_eq!(world.read("tool", "{}").await.unwrap_err(), failure, "the host goes on as before");
    failure
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_of_a_table() {
    let grow = "(loop (drop (table.grow $table (ref.null func) (i32.const 1000))) (br 0)) unreachable";
    let failure = ending(&calling(&manifest(), grow)).await;
    assert_eq!(failure.cause, Cause::Limit);
    assert!(failure.message.contains("20000 elements of a table"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn core_instances() {
    let folder = Folder::new();
    let world = World::new(Settings::new(folder.path()));
    let error = world.load("hostile", &instances(64)).await.unwrap_err().to_string();
    assert!(error.contains("65 core module instances") && error.contains("64"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_the_host() {
    let failure = ending(&flooding(&manifest(), false)).await;
    assert_eq!(failure.cause, Cause::Limit);
    assert!(failure.message.contains("33554432 bytes handed to the host at once"), "{failure:?}");
    let failure = ending(&flooding(&manifest(), true)).await;
    assert_eq!(failure.cause, Cause::Trapped, "{failure:?}");
    let world = probe_with(|settings| settings.max_memory_bytes = 512 << 20).await;
    let failure = world.read("probe_big", r#"{"bytes":40000000}"#).await.unwrap_err();
    assert!(failure.message.contains("33554432 bytes handed to the host at once"), "{failure:?}");
    assert_eq!(world.read("probe_echo", "{}").await.as_deref(), Ok("{}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_keeps_of_a_request() {
    let world = probe_with(|_| {}).await;
    let takes = async |bytes: usize| world.read("probe_long_parts", &format!(r#"{{"bytes":{bytes}}}"#)).await;
    assert_eq!(takes(1_000).await.as_deref(), Ok(r#"{"authority":true,"method":true,"path":true}"#));
    assert_eq!(takes(1_000_000).await.as_deref(), Ok(r#"{"authority":false,"method":false,"path":false}"#));
}

/// A world on a real database that holds one row, and the limits of `change`.
async fn real(folder: &Folder, change: impl FnOnce(&mut SqlLimits)) -> World<SqliteDatabases> {
    let mut limits = SqlLimits::default();
    change(&mut limits);
    let world = World::real(folder, limits).await;
    note(&world, "first").await;
    world
}

async fn note<D: tether_core::port::databases::Databases>(world: &World<D>, note: &str) {
    let written = world.write(call("probe_write", &format!(r#"{{"note":"{note}"}}"#), 1)).await;
    assert!(written.result.is_ok(), "{written:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_query() {
    let folder = Folder::new();
    let world = real(&folder, |limits| limits.read_time = SHORT).await;
    let neighbour = async {
        assert_eq!(world.read("probe_rows", "{}").await.as_deref(), Ok(r#"["first"]"#));
        note(&world, "second").await;
    };
    let begin = Instant::now();
    let (endless, ()) = tokio::join!(world.read("probe_query", ENDLESS), neighbour);
    let failure = endless.unwrap_err();
    assert_eq!(failure.handler_code.as_deref(), Some("DATABASE_FAILED"), "{failure:?}");
    assert!(failure.message.contains("its time was over"), "{failure:?}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_call_ends_its_query() {
    let folder = Folder::new();
    let world = real(&folder, |_| {}).await;
    let begin = Instant::now();
    let failure = world.read_within("probe_query", ENDLESS, SHORT).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TimedOut, "{failure:?}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(world.read("probe_rows", "{}").await.as_deref(), Ok(r#"["first"]"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_bytes_of_an_answer() {
    let folder = Folder::new();
    let world = real(&folder, |limits| (limits.max_rows, limits.max_bytes) = (100, 10_000)).await;
    let query = async |sql: &str| world.read("probe_query", &format!(r#"{{"sql":"{sql}"}}"#)).await;
    let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT";
    assert_eq!(query(&format!("{rows} 100")).await.as_deref(), Ok("100"));
    for sql in [format!("{rows} 101"), "SELECT zeroblob(10001)".into(), "SELECT zeroblob(2000000000)".into()]
    {
        let failure = query(&sql).await.unwrap_err();
        assert_eq!(failure.handler_code.as_deref(), Some("DATABASE_TOO_LARGE"), "{sql}: {failure:?}");
    }
    assert_eq!(query("SELECT zeroblob(9000)").await.as_deref(), Ok("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_transaction() {
    let folder = Folder::new();
    let world = real(&folder, |limits| limits.transaction_time = SHORT).await;
    let held = world.write(call("probe_hold", r#"{"ms":3000}"#, 1));
    let neighbour = async {
        let begin = Instant::now();
        note(&world, "second").await;
        assert!(begin.elapsed() < Duration::from_millis(2_500), "it got its turn before the guest woke");
    };
    let (held, ()) = tokio::join!(held, neighbour);
    let failure = held.result.unwrap_err();
    assert!(failure.message.contains("open for too long"), "{failure:?}");
    assert_eq!(world.read("probe_rows", "{}").await.as_deref(), Ok(r#"["first","second"]"#));
}

/// Polls a future so many times, and drops it; its output, where it had one by then.
async fn dropped_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut polled = 0;
    std::future::poll_fn(move |context| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_write_is_dropped_the_next_one_finds_a_clean_database() {
    let folder = Folder::new();
    let world = real(&folder, |_| {}).await;
    let binding = world.binding("probe_steps");
    let mut expected = 1;
    for polls in 0.. {
        let dropped = call("probe_steps", r#"{"steps":3}"#, 1);
        let key = dropped.request_id;
        let done = dropped_after(polls, world.write(dropped)).await;
        // Each transaction is there with its record, or neither; and when the records can
        // be asked, that is settled.
        expected += world.runner.records(&tenant(), &binding, key).await.unwrap().len();
        let next = tokio::time::timeout(Duration::from_secs(5), note(&world, "next"));
        next.await.unwrap_or_else(|_| panic!("after {polls} polls the next one does not get its turn"));
        expected += 1;
        let rows = world.read("probe_query", r#"{"sql":"SELECT * FROM effects"}"#).await.unwrap();
        assert_eq!(rows, expected.to_string(), "after {polls} polls");
        if let Some(report) = done {
            assert!(report.result.is_ok(), "{polls} polls: {report:?}");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_runs_out_of_time_holds_nothing() {
    let folder = Folder::new();
    let world = real(&folder, |_| {}).await;
    let held = Invocation { timeout: SHORT, ..call("probe_hold", r#"{"ms":60000}"#, 1) };
    assert_eq!(world.write(held).await.result.unwrap_err().cause, Cause::TimedOut);
    note(&world, "second").await;
    assert_eq!(world.read("probe_rows", "{}").await.as_deref(), Ok(r#"["first","second"]"#));
}
