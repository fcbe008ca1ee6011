//! A guest's own time: it stands still while a read waits for what it sent, and only
//! then. A request under way does not stop the clock of a guest that goes on meanwhile.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// Measures how long a guest has run by itself. Clones are the same stopwatch.
#[derive(Clone)]
pub(crate) struct Stopwatch(Arc<watch::Sender<Reading>>);

#[derive(Debug, Clone, Copy)]
struct Reading {
    /// The time until `since`.
    before: Duration,
    since: Instant,
    /// Requests whose answers are not there.
    awaited: usize,
    /// Calls of the host in which the guest waits.
    parked: usize,
}

/// A request whose answer is not there, or a guest that waits, while this is alive. The
/// stopwatch stands still while there are both.
pub(crate) struct Mark {
    watch: Stopwatch,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Awaited,
    Parked,
}

impl Reading {
    fn at(&self, now: Instant) -> Duration {
        match self.stands_still() {
            true => self.before,
            false => self.before + now.saturating_duration_since(self.since),
        }
    }

    fn stands_still(&self) -> bool {
        self.awaited > 0 && self.parked > 0
    }

    fn count(&mut self, now: Instant, what: What) -> &mut usize {
        (self.before, self.since) = (self.at(now), now);
        match what {
            What::Awaited => &mut self.awaited,
            What::Parked => &mut self.parked,
        }
    }
}

impl Stopwatch {
    /// One that runs from now on.
    pub(crate) fn start() -> Self {
        let reading = Reading { before: Duration::ZERO, since: Instant::now(), awaited: 0, parked: 0 };
        Self(Arc::new(watch::Sender::new(reading)))
    }

    /// A request is under way.
    pub(crate) fn awaits(&self) -> Mark {
        self.mark(What::Awaited)
    }

    /// The guest waits in the host.
    pub(crate) fn parks(&self) -> Mark {
        self.mark(What::Parked)
    }

    fn mark(&self, what: What) -> Mark {
        self.0.send_modify(|reading| *reading.count(Instant::now(), what) += 1);
        Mark { watch: self.clone(), what }
    }

    /// Waits until it shows `time`.
    pub(crate) async fn shows(&self, time: Duration) {
        let mut readings = self.0.subscribe();
        loop {
            let reading = *readings.borrow_and_update();
            let left = time.saturating_sub(reading.at(Instant::now()));
            if left.is_zero() {
                return;
            }
            if !reading.stands_still() {
                // A pause meanwhile makes it later, never sooner: then it looks again.
                sleep(left).await;
            } else if readings.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.watch.0.send_modify(|reading| *reading.count(Instant::now(), self.what) -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn it_stands_still_while_the_guest_waits_for_what_it_sent() {
        use What::{Awaited, Parked};
        let start = Instant::now();
        let at = |millis| start + ms(millis);
        let mut reading = Reading { before: Duration::ZERO, since: start, awaited: 0, parked: 0 };
        *reading.count(at(100), Awaited) += 1;
        assert_eq!(reading.at(at(200)), ms(200), "it goes on meanwhile");
        *reading.count(at(200), Parked) += 1;
        *reading.count(at(300), Awaited) += 1;
        assert_eq!(reading.at(at(1_000)), ms(200));
        *reading.count(at(1_000), Awaited) -= 1;
        assert_eq!(reading.at(at(2_000)), ms(200), "one request is left");
        *reading.count(at(2_000), Parked) -= 1;
        assert_eq!(reading.at(at(2_100)), ms(300), "it waits no longer");
        *reading.count(at(2_100), Parked) += 1;
        *reading.count(at(3_000), Awaited) -= 1;
        assert_eq!(reading.at(at(3_050)), ms(350), "it waits for something else");
    }

    #[tokio::test]
    async fn it_shows_a_time_only_while_it_runs() {
        let watch = Stopwatch::start();
        let (awaited, _parked) = (watch.awaits(), watch.parks());
        let begin = Instant::now();
        let mut shown = tokio::spawn({
            let watch = watch.clone();
            async move { watch.shows(ms(50)).await }
        });
        tokio::time::timeout(ms(150), &mut shown).await.expect_err("it stands still");
        drop(awaited);
        shown.await.unwrap();
        assert!(begin.elapsed() >= ms(195), "{:?}", begin.elapsed());
    }
}
