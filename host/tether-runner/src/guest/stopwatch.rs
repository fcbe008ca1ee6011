//! A guest's own time: it stands still while a read waits for what it sent.

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
    /// How many want it to stand still; it runs while nobody does.
    pauses: usize,
}

/// The stopwatch stands still while this is alive.
pub(crate) struct Pause(Stopwatch);

impl Reading {
    fn at(&self, now: Instant) -> Duration {
        match self.pauses {
            0 => self.before + now.saturating_duration_since(self.since),
            _ => self.before,
        }
    }

    fn pause(&mut self, now: Instant) {
        self.before = self.at(now);
        self.pauses += 1;
    }

    fn go_on(&mut self, now: Instant) {
        self.pauses -= 1;
        self.since = now;
    }
}

impl Stopwatch {
    /// One that runs from now on.
    pub(crate) fn start() -> Self {
        let reading = Reading { before: Duration::ZERO, since: Instant::now(), pauses: 0 };
        Self(Arc::new(watch::Sender::new(reading)))
    }

    /// Stops it, until every pause is over.
    pub(crate) fn pause(&self) -> Pause {
        self.0.send_modify(|reading| reading.pause(Instant::now()));
        Pause(self.clone())
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
            if reading.pauses == 0 {
                // A pause meanwhile makes it later, never sooner: then it looks again.
                sleep(left).await;
            } else if readings.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.0.0.send_modify(|reading| reading.go_on(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn pauses_do_not_count_and_may_overlap() {
        let start = Instant::now();
        let at = |millis| start + ms(millis);
        let mut reading = Reading { before: Duration::ZERO, since: start, pauses: 0 };
        assert_eq!(reading.at(at(100)), ms(100));
        reading.pause(at(100));
        reading.pause(at(200));
        assert_eq!(reading.at(at(1_000)), ms(100));
        reading.go_on(at(1_000));
        assert_eq!(reading.at(at(2_000)), ms(100), "one pause is left");
        reading.go_on(at(5_000));
        assert_eq!(reading.at(at(5_050)), ms(150));
    }

    #[tokio::test]
    async fn it_shows_a_time_only_while_it_runs() {
        let watch = Stopwatch::start();
        let pause = watch.pause();
        let begin = Instant::now();
        let mut shown = tokio::spawn({
            let watch = watch.clone();
            async move { watch.shows(ms(50)).await }
        });
        tokio::time::timeout(ms(150), &mut shown).await.expect_err("it stands still");
        drop(pause);
        shown.await.unwrap();
        assert!(begin.elapsed() >= ms(195), "{:?}", begin.elapsed());
    }
}
