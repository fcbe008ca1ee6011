//! Lengths of time as people write them: `90s`, `24h`, `30d`.

use std::time::Duration;

/// Units, the longest first, with their milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A whole number and a unit: `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(millis).map(Duration::from_millis)
}

/// The same text again, in the largest unit that keeps it whole.
pub(crate) fn write(span: Duration) -> String {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let (unit, size) = UNITS.into_iter().find(|(_, size)| millis.is_multiple_of(*size)).unwrap_or(("ms", 1));
    format!("{}{unit}", millis / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        let check = |text: &str, millis: Option<u64>| {
            assert_eq!(parse(text), millis.map(Duration::from_millis), "{text:?}");
        };
        check("24h", Some(86_400_000));
        check("90s", Some(90_000));
        check("30d", Some(2_592_000_000));
        check("150 ms", Some(150));
        for text in ["", "s", "10", "1.5h", "-1s", "1h30m", "5 weeks", "99999999999999999999s"] {
            check(text, None);
        }
        assert_eq!(write(Duration::from_secs(90)), "90s");
        assert_eq!(write(Duration::from_secs(86_400)), "1d");
    }
}
