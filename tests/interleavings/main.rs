//! The gateway under a model checker for threads: who is first at every lock, every
//! notice, every place and every step of the store is for the checker to decide, in as
//! many ways as there is time for. So are those who share a sync in the store. A waiter that nobody wakes is a deadlock, and found.
//!
//! A few seconds of it run with every test. At full length, and with other schedules:
//!
//! ```text
//! TETHER_INTERLEAVINGS=100000 cargo test -p tether-interleavings -- --nocapture
//! TETHER_INTERLEAVINGS_SEED=42 cargo test -p tether-interleavings
//! ```
//!
//! A failure prints its schedule; `shuttle::replay` runs it again.

mod confirmations;
mod handlers;
mod pairs;
mod people;
mod places;
mod store;
mod sweepers;
mod syncs;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// Schedules of each kind for each test, where nobody says how many.
const BOUNDED: usize = 2_000;

/// Points at which the second kind of schedule lets somebody else go first.
const PREEMPTIONS: usize = 3;

fn asked_for(name: &str) -> Option<usize> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// Runs `life` under schedules of two kinds: random ones, and ones with few changes of
/// task, which find what takes a task that is stopped for long.
#[track_caller]
fn check(name: &str, life: fn()) {
    let most = asked_for("TETHER_INTERLEAVINGS").unwrap_or(BOUNDED);
    let seed = asked_for("TETHER_INTERLEAVINGS_SEED").unwrap_or(1) as u64;
    let start = Instant::now();
    let random = run(RandomScheduler::new_from_seed(seed, most), life);
    let preempted = run(PctScheduler::new_from_seed(seed, PREEMPTIONS, most), life);
    println!(
        "{name}: {random} schedules at random, {preempted} with few changes of task, seed {seed}, {:.1} s",
        start.elapsed().as_secs_f64(),
    );
}

/// Runs `life` under every schedule that there is, one after the other; or under the first
/// ones, where there are more than there is time for: 100 times as many as asked for.
#[track_caller]
fn check_all(name: &str, life: fn()) {
    let most = asked_for("TETHER_INTERLEAVINGS").map_or(3 * BOUNDED, |asked| 100 * asked);
    let start = Instant::now();
    let count = run(DfsScheduler::new(Some(most), false), life);
    let all = if count == most { "" } else { ", which are all" };
    println!("{name}: {count} schedules in order{all}, {:.1} s", start.elapsed().as_secs_f64());
}

/// Says how many schedules it took, where one fails.
struct Begun(Arc<AtomicUsize>);

impl Drop for Begun {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("schedule number {}", self.0.load(Ordering::Relaxed));
        }
    }
}

fn run(scheduler: impl Scheduler + 'static, life: fn()) -> usize {
    let begun = Begun(Arc::default());
    let count = Arc::clone(&begun.0);
    let mut config = Config::new();
    config.stack_size = 256 << 10;
    config.max_steps = shuttle::MaxSteps::FailAfter(20_000);
    Runner::new(scheduler, config).run(move || {
        count.fetch_add(1, Ordering::Relaxed);
        life();
    })
}
