//! How long a server asks to be left alone.

use std::time::{Duration, UNIX_EPOCH};

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use tether_core::clock::Timestamp;

/// The same in milliseconds; several large services send it.
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Whoever asks for more is given so much: nobody waits for a century, and it still
/// fits wherever times are written.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);

/// The wait that `response` asks for: only statuses that say "later" (429, 503) do.
pub fn of<T>(response: &Response<T>, now: Timestamp) -> Option<Duration> {
    let says_later = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
    says_later.contains(&response.status()).then(|| parse(response.headers(), now)).flatten()
}

/// The longest wait that `Retry-After` (seconds, with a fraction or without, or a
/// date) and `retry-after-ms` ask for, from now. What is neither is ignored, and so is
/// a date in the past; what is too large to be meant becomes 136 years.
///
/// A date is measured against the answer's own `Date` and against `now`, whichever
/// gives the longer wait: one of the two clocks may be wrong.
pub fn parse(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let sent = headers.get(DATE).and_then(|value| date(text(value)?));
    let nows = [sent, Some(now.as_millis())];
    let waits = |value: &HeaderValue| {
        let text = text(value)?;
        number(text, 3).or_else(|| {
            let at = date(text)?;
            let waits = nows.iter().flatten().map(|now| at.saturating_sub(*now));
            waits.max().and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis)
        })
    };
    let seconds = headers.get_all(RETRY_AFTER).iter().filter_map(waits);
    let millis = headers.get_all(RETRY_AFTER_MS).iter().filter_map(|value| number(text(value)?, 0));
    seconds.chain(millis).max().map(|wait| wait.min(LONGEST)).filter(|wait| !wait.is_zero())
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().map(str::trim)
}

/// A plain decimal number, shifted by `shift` digits: `1.5` by 3 is 1500 milliseconds.
/// Never less than was written: what is finer than a millisecond counts as a whole one.
fn number(text: &str, shift: usize) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let (kept, finer) = fraction.split_at(shift.min(fraction.len()));
    let millis = format!("{whole}{kept:0<shift$}").parse().unwrap_or(u64::MAX);
    let up = finer.bytes().any(|digit| digit != b'0');
    Some(Duration::from_millis(millis.saturating_add(u64::from(up))))
}

/// A date of HTTP, in milliseconds since 1970.
fn date(text: &str) -> Option<i64> {
    let at = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(at.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    /// Later than any date of the tests.
    const LATER: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

    fn parsed(lines: &[(&'static str, &str)], now: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let now = Timestamp::from_millis(date(now).unwrap());
        parse(&headers, now).map(|wait| u64::try_from(wait.as_millis()).unwrap())
    }

    #[track_caller]
    fn check(value: &str, millis: Option<u64>) {
        assert_eq!(parsed(&[("retry-after", value)], NOW), millis, "{value:?}");
    }

    #[test]
    fn seconds_are_read_and_never_shortened() {
        check("120", Some(120_000));
        check(" 120 ", Some(120_000));
        check("007", Some(7_000));
        check("1.5", Some(1_500));
        check("0.0001", Some(1));
        check("1.0000", Some(1_000));
        check("99999999999999999999999999", Some(LONGEST.as_millis() as u64));
        check(&u64::MAX.to_string(), Some(LONGEST.as_millis() as u64));
        check("99999999999999999999.5", Some(LONGEST.as_millis() as u64));
    }

    #[test]
    fn what_is_no_wait_is_ignored() {
        for value in
            ["", "0", "0.0", "-1", "+1", "120junk", "1e10000", "1e3", "0x10", "NaN", "inf", "1,5", "1.", ".5"]
        {
            check(value, None);
        }
        check("\u{661}\u{662}", None);
        check("soon", None);
    }

    #[test]
    fn a_date_is_measured_from_now() {
        check("Sun, 06 Nov 1994 08:51:37 GMT", Some(120_000));
        check("Sunday, 06-Nov-94 08:51:37 GMT", Some(120_000));
        check("Sun Nov  6 08:51:37 1994", Some(120_000));
        check(NOW, None);
        check("Sun, 06 Nov 1994 08:49:36 GMT", None);
        check("Fri, 31 Dec 9999 23:59:59 GMT", Some(LONGEST.as_millis() as u64));
        check("Sun, 06 Nov 1994 08:51:37 PST", None);
        check("Thu, 32 Dec 1994 08:51:37 GMT", None);
    }

    #[test]
    fn a_date_is_measured_by_the_clock_that_says_longer() {
        let later = ("retry-after", "Sun, 06 Nov 1994 08:51:37 GMT");
        let sent = ("date", "Sun, 06 Nov 1994 08:50:37 GMT");
        assert_eq!(parsed(&[later, sent], LATER), Some(60_000));
        assert_eq!(parsed(&[later, sent], NOW), Some(120_000));
        assert_eq!(parsed(&[later, ("date", NOW)], "Sun, 06 Nov 1994 09:00:00 GMT"), Some(120_000));
        assert_eq!(parsed(&[later], LATER), None);
    }

    #[test]
    fn of_several_the_longest_counts() {
        let lines = [("retry-after", "1"), ("retry-after", "junk"), ("retry-after-ms", "2500")];
        assert_eq!(parsed(&lines, NOW), Some(2_500));
        assert_eq!(parsed(&[("retry-after", "3"), ("retry-after-ms", "2500")], NOW), Some(3_000));
        assert_eq!(parsed(&[("retry-after-ms", "0.2")], NOW), Some(1));
        assert_eq!(parsed(&[("retry-after-ms", "-1")], NOW), None);
    }

    #[test]
    fn only_too_many_requests_and_unavailable_ask_for_a_wait() {
        let asks = |status: u16| {
            let response = Response::builder().status(status).header("retry-after", "1").body(()).unwrap();
            of(&response, Timestamp::EPOCH).is_some()
        };
        let asking: Vec<_> = (200..600).filter(|status| asks(*status)).collect();
        assert_eq!(asking, [429, 503]);
    }

    /// Nothing that a server can write makes the parser panic, or answer with less
    /// than the number that was written.
    #[test]
    fn whatever_is_written_is_a_wait_or_none() {
        let letters = b"0123456789.-+eE ,:GMTSunNov";
        let mut random = crate::random::Random(3);
        let mut waits = 0;
        for _ in 0..500_000 {
            let text: Vec<u8> = (0..random.below(12)).map(|_| letters[random.below(letters.len())]).collect();
            let text = String::from_utf8(text).unwrap();
            if let Some(millis) = parsed(&[("retry-after", &text)], NOW) {
                waits += 1;
                let written: f64 = text.trim().parse().unwrap();
                let longest = LONGEST.as_secs() as f64;
                assert!(millis as f64 / 1000.0 >= written.min(longest), "{text:?} is {millis}");
            }
        }
        assert!(waits > 1_000, "{waits} of 500,000 texts were waits");
    }
}
