//! What one call has left to spend, shared by whoever meets a failure first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{Clock, Timestamp};
use crate::failure::Failure;
use crate::port::BoxFuture;
use crate::retry::{Budget, RetryPolicy};

/// Is told of each attempt after the first, as it is granted: its number.
pub type Watcher = Arc<dyn Fn(u32) + Send + Sync>;

/// The budget and the end of one call: shared by every layer that may meet a
/// failure first, so that layers never multiply.
pub struct Allowance {
    budget: Mutex<Budget>,
    clock: Arc<dyn Clock>,
    /// On the clock's monotonic time.
    ends: Duration,
    /// A random number from 0 to 1.
    chance: fn() -> f64,
    watcher: Option<Watcher>,
}

impl Allowance {
    /// A fresh budget for a call that begins now.
    pub fn new(policy: RetryPolicy, clock: Arc<dyn Clock>, chance: fn() -> f64) -> Self {
        let ends = clock.monotonic() + policy.call_time();
        Self { budget: Mutex::new(Budget::new(policy)), clock, ends, chance, watcher: None }
    }

    /// The same, with somebody who is told of its attempts, whichever layer makes them.
    pub fn watched_by(self, watcher: Option<Watcher>) -> Self {
        Self { watcher, ..self }
    }

    /// The time that each attempt, of a request or of a handler, has.
    pub fn timeout(&self) -> Duration {
        self.budget().timeout().min(self.remaining())
    }

    /// What the call's time has left.
    pub fn remaining(&self) -> Duration {
        self.ends.saturating_sub(self.clock.monotonic())
    }

    /// The time of day, on the call's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// 1 and the retries that were spent, wherever.
    pub fn attempts(&self) -> u32 {
        self.budget().attempts()
    }

    /// The pause before the next attempt, if there is one: spends a retry. See
    /// [`Budget::next`].
    pub fn next(&self, failure: &Failure) -> Option<Duration> {
        let remaining = self.remaining();
        let pause = self.budget().next(failure, remaining, (self.chance)())?;
        if let Some(watcher) = &self.watcher {
            watcher(self.attempts());
        }
        Some(pause)
    }

    /// Waits, on the call's clock.
    pub fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        self.clock.sleep(pause)
    }

    fn budget(&self) -> MutexGuard<'_, Budget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
