//! When SQL has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Steps of SQLite's machine between two looks at the clock: well under a
/// millisecond.
const STEPS: i32 = 1_000;

/// Pauses while another process holds a lock, in milliseconds; the last one repeats.
const PAUSES: [u64; 6] = [1, 2, 5, 10, 20, 50];

/// What a thread of the runtime may spend on SQL: no more than a guest has of it in one go.
const BRIEF: Duration = Duration::from_micros(500);

/// Ends the SQL that watches it: at a moment, or when whoever waited is gone.
#[derive(Clone)]
pub(super) struct Stop {
    cancelled: Arc<AtomicBool>,
    deadline: Instant,
}

impl Stop {
    /// One that stops after `span` by itself.
    pub(super) fn after(span: Duration) -> Self {
        Self { cancelled: Arc::default(), deadline: Instant::now() + span }
    }

    /// The same, or at `until`, whichever comes first.
    pub(super) fn or_at(mut self, until: Instant) -> Self {
        self.deadline = self.deadline.min(until);
        self
    }

    /// One for what may be tried on a thread that must not wait.
    pub(super) fn soon() -> Self {
        Self::after(BRIEF)
    }

    /// Stops now.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Whether it is time to stop.
    pub(super) fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Acquire) || Instant::now() >= self.deadline
    }

    /// The moment at which it stops by itself.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Interrupts statements of `connection` when it is over, and gives up waiting
    /// for locks of other processes then. Replaces what was watched before.
    #[expect(clippy::disallowed_methods, reason = "SQLite runs on threads that may block")]
    pub(super) fn watch(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let stop = self.clone();
        connection.progress_handler(STEPS, Some(move || stop.is_over()))?;
        let stop = self.clone();
        connection.busy_handler(Some(move |count: i32| {
            let index = usize::try_from(count).unwrap_or_default().min(PAUSES.len() - 1);
            std::thread::sleep(Duration::from_millis(PAUSES[index]));
            !stop.is_over()
        }))
    }

    /// Interrupts statements of `connection` when it is over, and does not wait for locks.
    /// Replaces what was watched before.
    pub(super) fn watch_without_waiting(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let stop = self.clone();
        connection.progress_handler(STEPS, Some(move || stop.is_over()))?;
        connection.busy_handler(None::<fn(i32) -> bool>)
    }

    /// A guard that stops when it is dropped, unless it is told not to.
    pub(super) fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(Some(self.clone()))
    }
}

/// See [`Stop::on_drop`].
pub(super) struct StopOnDrop(Option<Stop>);

impl StopOnDrop {
    /// Whoever waited has its answer.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(stop) = &self.0 {
            stop.cancel();
        }
    }
}
