//! The gateway in random worlds: people, crashes, full disks and jumping clocks, one
//! step after the other as a seed decides; judged by a small model and by the history
//! checker.
//!
//! A few seconds of it run with every test. At full length, and again from a seed that
//! failed:
//!
//! ```text
//! TETHER_SIMULATION_STEPS=1000000 cargo test -p tether-gateway --test simulation -- --nocapture
//! TETHER_SIMULATION_SEED=42 cargo test -p tether-gateway --test simulation -- --nocapture
//! ```

#[path = "../world/mod.rs"]
mod world;

mod clock;
mod handlers;
mod life;
mod model;
mod outside;
mod random;

use std::time::Instant;

use tether_core::action::Status;

use crate::life::{Counts, Simulation};

/// Steps of one world.
const STEPS: usize = 400;

/// Steps in all, where nobody says how many.
const BOUNDED: usize = 60_000;

/// Says which world it was, where the test itself breaks down in it.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

fn asked_for(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

#[test]
fn whatever_happens_every_history_is_right() {
    let start = Instant::now();
    if let Some(seed) = asked_for("TETHER_SIMULATION_SEED") {
        let _named = Named(seed);
        Simulation::run(seed, STEPS).unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let wanted = asked_for("TETHER_SIMULATION_STEPS").map_or(BOUNDED, |steps| steps as usize);
    let mut sum = Counts::default();
    for seed in 1.. {
        let _named = Named(seed);
        let counts = Simulation::run(seed, STEPS)
            .unwrap_or_else(|failure| panic!("{failure}\nafter {} steps of earlier seeds", sum.steps));
        sum.add(&counts);
        if sum.steps >= wanted {
            break;
        }
    }
    println!("{sum:?} in {:.1} s", start.elapsed().as_secs_f64());

    // A world in which nothing happens would prove nothing.
    for status in [Status::Pending, Status::Succeeded, Status::Failed, Status::Declined, Status::Expired] {
        assert!(sum.ended_as(status) > 20, "{status:?}: {sum:?}");
    }
    assert_eq!(sum.ended_as(Status::Executing), 0);
    for (what, count) in [
        ("approvals", sum.approvals),
        ("successes of several persons", sum.together),
        ("replays", sum.replays),
        ("conflicts", sum.conflicts),
        ("interrupted attempts", sum.interrupted),
        ("erased results", sum.erased),
        ("erased arguments", sum.forgotten),
    ] {
        assert!(count > 20, "{what}: {sum:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_world() {
    for seed in 1..20 {
        let [one, other] = [(); 2].map(|()| Simulation::story(seed, STEPS));
        assert!(one == other, "seed {seed}: {one}\n\nand then\n\n{other}");
    }
}
