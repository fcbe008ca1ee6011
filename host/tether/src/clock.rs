//! The clock of the machine.

use std::time::{Duration, Instant, SystemTime};

use tether_core::clock::{Clock, Timestamp};
use tether_core::port::BoxFuture;

/// The machine's time. The only place that asks for it.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// The clock of this machine.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the rest of the house is given")]
    fn now(&self) -> Timestamp {
        // A machine that believes in a time before 1970 is at its beginning.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::EPOCH.after(since)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(span))
    }
}
