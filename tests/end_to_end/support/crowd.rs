//! Many at once, and waiting for a state.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::log::PATIENCE;

/// Does `what` in `count` threads, all beginning together; what each came to.
pub(crate) fn crowd<T: Send>(count: usize, what: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (what, start) = (&what, &Barrier::new(count));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn(move || {
                    start.wait();
                    what(number)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody in the crowd panics")).collect()
    })
}

/// Looks until `look` finds something.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "it never came to this: {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}
