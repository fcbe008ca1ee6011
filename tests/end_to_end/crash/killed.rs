//! `kill -9` of the real binary at every passing of every fault point; and a second one
//! at every passing of the life after it, in which what was interrupted is recovered and
//! confirmed again. Effects are counted outside.
//!
//! With every test: each passing once, and a sample of the pairs. All pairs (tens of
//! minutes on two cores), and the sample of a run that failed:
//!
//! ```text
//! TETHER_CRASH_PAIRS=all cargo test -p tether --test end_to_end crash::killed -- --nocapture
//! TETHER_CRASH_SEED=42 cargo test -p tether --test end_to_end crash::killed -- --nocapture
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::pairs::Pairs;
use super::past::{Past, World};
use super::writes::Write;

/// Servers side by side, of each test.
const SERVERS: usize = 2;

/// What was tried.
#[derive(Debug, Default)]
struct Tally {
    died_once: usize,
    died_twice: usize,
    /// From the start to the first answer that shows that all is settled.
    settled: Vec<Duration>,
}

/// Components that were lent by other tests are removed whenever it suits, which no
/// write is about.
fn is_of_the_write(passing: &str) -> bool {
    !passing.starts_with("component-removed")
}

/// Dies at `first`, and then everywhere again.
fn die(write: Write, index: usize, first: &str, is_confirmed: bool, pairs: &Pairs, tally: &Mutex<Tally>) {
    let (world, mut past) = (World::new(write), Past::none(write));
    world.die(&mut past, first);
    let again = world.finish(&mut past.fork());
    let mut settled = vec![again.settled];
    let passings: Vec<_> = again.passed.iter().filter(|passing| is_of_the_write(passing)).collect();
    let mut died_twice = 0;
    // A confirm is confirmed again where there was one.
    let seconds = if is_confirmed { pairs.of(index, passings.len()) } else { Vec::new() };
    for second in seconds {
        let mut past = past.fork();
        settled.push(world.die(&mut past, passings[second]).settled);
        settled.push(world.finish(&mut past).settled);
        died_twice += 1;
    }
    let mut tally = tally.lock().expect("nobody panics with it");
    tally.died_once += 1;
    tally.died_twice += died_twice;
    tally.settled.extend(settled.into_iter().flatten());
}

fn die_everywhere(write: Write) {
    let (start, pairs, tally) = (Instant::now(), Pairs::asked_for(), Mutex::default());
    println!("{write:?}: {pairs}");
    let uninterrupted = || World::new(write).finish(&mut Past::none(write));
    // Compiled now, for all who follow: otherwise only the first of them would do it.
    uninterrupted();
    let lived = uninterrupted();
    let passings: Vec<_> = lived.passed.iter().filter(|passing| is_of_the_write(passing)).collect();
    let confirmed = passings.iter().position(|passing| *passing == "before-claim#1").expect("it is claimed");

    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..SERVERS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(passing) = passings.get(index) else { return };
                    die(write, index, passing, index >= confirmed, &pairs, &tally);
                }
            });
        }
    });

    let Tally { died_once, died_twice, mut settled } = tally.into_inner().expect("nobody panicked");
    settled.sort();
    println!(
        "{write:?}: died once at {died_once} passings, twice at {died_twice} pairs, in {:.0} s; settled {:?} \
         after the start (median), {:?} at most",
        start.elapsed().as_secs_f64(),
        settled[settled.len() / 2],
        settled[settled.len() - 1],
    );
    assert_eq!(died_once, passings.len());
}

#[test]
fn a_step_and_a_main_transaction() {
    die_everywhere(Write::Steps);
}

#[test]
fn a_request_with_a_step_and_a_main_transaction() {
    die_everywhere(Write::Request);
}

#[test]
fn a_request_through_wasi_http() {
    die_everywhere(Write::Fetch);
}

#[test]
fn a_call_of_an_endpoint() {
    die_everywhere(Write::Endpoint);
}
