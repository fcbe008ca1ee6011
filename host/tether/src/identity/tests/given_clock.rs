//! A clock that a test sets.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tether_core::clock::{Clock, Timestamp};
use tether_core::port::BoxFuture;
use tokio::sync::watch;

/// Starts at 2026-01-31T12:00:00Z. Whoever sleeps is let go at once, unless the clock
/// holds sleepers; then each release lets one more go.
pub(crate) struct GivenClock {
    since: Mutex<Duration>,
    slept: watch::Sender<Vec<Duration>>,
    /// So many sleeps end; none: all of them.
    let_go: watch::Sender<Option<usize>>,
}

impl Default for GivenClock {
    fn default() -> Self {
        Self {
            // No moment that is measured from is before the clock's beginning.
            since: Mutex::new(Duration::from_secs(1_000_000)),
            slept: watch::Sender::new(Vec::new()),
            let_go: watch::Sender::new(None),
        }
    }
}

impl GivenClock {
    /// Time goes on.
    pub(crate) fn advance(&self, span: Duration) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) += span;
    }

    /// From now on sleepers sleep.
    pub(crate) fn hold(&self) {
        self.let_go.send_replace(Some(self.slept.borrow().len()));
    }

    /// Lets one more sleeper go.
    pub(crate) fn release(&self) {
        self.let_go.send_modify(|count| *count = count.map(|count| count + 1));
    }

    /// How long was slept, each time.
    pub(crate) fn slept(&self) -> Vec<Duration> {
        self.slept.borrow().clone()
    }

    /// Waits until somebody has gone to sleep for the `count`th time since the beginning
    /// of the hold, or later.
    pub(crate) async fn until_slept(&self, count: usize) {
        let before = self.let_go.borrow().unwrap_or_default();
        let mut slept = self.slept.subscribe();
        slept.wait_for(|slept| slept.len() >= before + count).await.expect("the clock is there");
    }
}

impl Clock for GivenClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_769_860_800_000 - 1_000_000_000).after(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        let mut number = 0;
        self.slept.send_modify(|slept| {
            slept.push(span);
            number = slept.len();
        });
        let mut let_go = self.let_go.subscribe();
        Box::pin(async move {
            let _ = let_go.wait_for(|count| count.is_none_or(|count| number <= count)).await;
        })
    }
}
