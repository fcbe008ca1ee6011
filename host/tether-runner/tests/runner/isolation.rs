//! What a call leaves behind, and what it can reach: nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tether_core::failure::Cause;
use tether_core::port::handlers::Handlers;
use tokio::task::JoinSet;

use crate::world::{allowance, call, probe, probe_with};

#[tokio::test(flavor = "multi_thread")]
async fn each_call_has_a_fresh_instance() {
    let world = probe().await;
    for _ in 0..3 {
        assert_eq!(world.read("probe_count", "{}").await.as_deref(), Ok("1"));
        world.read("probe_trap", "{}").await.unwrap_err();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_reaches_nothing_of_the_machine() {
    let world = probe().await;
    let reached = world.read("probe_sandbox", "{}").await.unwrap();
    let expected = r#"{"variables":0,"arguments":0,"reads_files":false,"writes_files":false,"connects":false,"listens":false,"clocks":true,"random":true}"#;
    assert_eq!(reached, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_neighbour_that_hoards_or_spins_is_not_felt() {
    let world = probe_with(|settings| settings.max_memory_bytes = 16 << 20).await;
    let time = Duration::from_millis(500);
    let (hoard, spin, ..) =
        tokio::join!(world.read("probe_hoard", "{}"), world.read_within("probe_spin", "{}", time), async {
            let begin = Instant::now();
            for _ in 0..10 {
                assert_eq!(world.read("probe_echo", "{}").await.as_deref(), Ok("{}"));
            }
            begin.elapsed()
        },);
    assert_eq!(hoard.unwrap_err().cause, Cause::Limit);
    assert_eq!(spin.unwrap_err().cause, Cause::TimedOut);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_calls_than_places_wait_their_turn() {
    let world = Arc::new(probe_with(|settings| settings.max_instances = 2).await);
    let mut calls = JoinSet::new();
    for _ in 0..20 {
        let world = Arc::clone(&world);
        calls.spawn(async move { world.read("probe_sleep", r#"{"ms":20}"#).await });
    }
    let answers = calls.join_all().await;
    assert!(answers.iter().all(|answer| answer.as_deref() == Ok("20")), "{answers:?}");
    // A place is free again whatever the end of its call.
    for _ in 0..4 {
        world.read("probe_trap", "{}").await.unwrap_err();
    }
    assert_eq!(world.read("probe_count", "{}").await.as_deref(), Ok("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_whose_caller_goes_away_ends() {
    let world = probe().await;
    for tool in ["probe_spin", "probe_sleep"] {
        let arguments = if tool == "probe_spin" { "{}" } else { r#"{"ms":60000}"# };
        let binding = world.binding(tool);
        let allowance = allowance(3, Duration::from_secs(20));
        let read = world.runner.read(&binding, call(tool, arguments, 1), allowance);
        tokio::time::timeout(Duration::from_millis(100), read).await.unwrap_err();
        // Dropped now; the session goes with it.
        assert_eq!(world.databases.alive(), 0, "{tool}");
    }
}
