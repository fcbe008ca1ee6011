//! When a notice that was not taken is sent again: pure.

use std::time::Duration;

use tether_core::clock::Timestamp;

/// How long the first repetition waits. Each further one waits twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// The longest of these waits.
const LONGEST: Duration = Duration::from_secs(3600);

/// A notice is tried for so long from when it was queued.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3 * 24 * 3600);

/// When to send again what was queued at `queued_at` and was not taken `failures` times,
/// now for the last time; not before `retry_after`, where the receiver asked for that.
/// None: no more.
pub(super) fn next(
    queued_at: Timestamp,
    now: Timestamp,
    failures: u32,
    retry_after: Option<Duration>,
) -> Option<Timestamp> {
    let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).and_then(|times| FIRST.checked_mul(times));
    let wait = doubled.map_or(LONGEST, |wait| wait.min(LONGEST)).max(retry_after.unwrap_or_default());
    let next = now.after(wait);
    (next <= queued_at.after(GIVEN_UP_AFTER)).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAYS: u64 = 24 * 3600;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.after(Duration::from_secs(seconds))
    }

    fn wait(failures: u32, retry_after: Option<u64>) -> Option<u64> {
        let next = next(at(100), at(100), failures, retry_after.map(Duration::from_secs))?;
        Some(u64::try_from(next.as_millis() / 1000).unwrap() - 100)
    }

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_an_hour() {
        let waits: Vec<_> = (1..=14).map(|failures| wait(failures, None).unwrap()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
        assert_eq!((wait(100, None), wait(u32::MAX, None)), (Some(3600), Some(3600)));
    }

    #[test]
    fn nobody_is_asked_again_sooner_than_they_wanted() {
        assert_eq!(wait(1, Some(30)), Some(30));
        assert_eq!(wait(10, Some(30)), Some(512));
        assert_eq!(wait(14, Some(7200)), Some(7200));
        assert_eq!(wait(1, Some(3 * DAYS)), Some(3 * DAYS));
        assert_eq!(wait(1, Some(3 * DAYS + 1)), None);
    }

    #[test]
    fn it_is_tried_for_three_days() {
        let (mut now, mut tries) = (at(100), 1);
        while let Some(next) = next(at(100), now, tries, None) {
            assert!(next > now);
            (now, tries) = (next, tries + 1);
        }
        assert!(now > at(100 + 3 * DAYS - 3600) && now <= at(100 + 3 * DAYS), "{now:?}");
        assert_eq!(tries, 83);
    }
}
