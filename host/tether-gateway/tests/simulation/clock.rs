//! A clock that the simulation moves: the time of day may jump, also back; lengths
//! never do.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use tether_core::clock::{Clock, Timestamp};
use tether_core::port::BoxFuture;

use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct SimulatedClock(Arc<Mutex<Times>>);

struct Times {
    day: i64,
    passed: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

impl SimulatedClock {
    pub(crate) fn new() -> Self {
        let day = 1_000_000_000;
        Self(Arc::new(Mutex::new(Times { day, passed: Duration::ZERO, sleepers: Vec::new() })))
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap()
    }

    /// Time goes by.
    pub(crate) fn advance(&self, span: Duration) {
        let mut times = self.times();
        times.day += i64::try_from(span.as_millis()).unwrap();
        times.passed += span;
        let now = times.passed;
        for (_, waker) in times.sleepers.extract_if(.., |(until, _)| *until <= now) {
            waker.wake();
        }
    }

    /// Somebody sets the time of day.
    pub(crate) fn jump(&self, millis: i64) {
        self.times().day += millis;
    }

    /// Nobody of the last life sleeps any more.
    pub(crate) fn forget_sleepers(&self) {
        self.times().sleepers.clear();
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.times().day)
    }

    fn monotonic(&self) -> Duration {
        self.times().passed
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        let until = self.monotonic() + span;
        Box::pin(poll_fn(move |context| {
            let mut times = clock.times();
            if times.passed >= until {
                return Poll::Ready(());
            }
            times.sleepers.push((until, context.waker().clone()));
            Poll::Pending
        }))
    }
}
