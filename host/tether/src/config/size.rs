//! Numbers of bytes as people write them: `262144`, `256KiB`, `64MiB`.

const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

/// A whole number, with a unit or without.
pub(super) fn parse(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, bytes) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<usize>().ok()?.checked_mul(bytes)
}

/// The same size again, in the largest unit that keeps it whole.
pub(super) fn write(bytes: usize) -> String {
    let (unit, size) = UNITS.into_iter().find(|(_, size)| bytes.is_multiple_of(*size)).unwrap_or(("", 1));
    format!("{}{unit}", bytes / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_unit_or_without() {
        assert_eq!(parse("262144"), Some(262_144));
        assert_eq!(parse("64MiB"), Some(64 << 20));
        assert_eq!(parse("1 GiB"), Some(1 << 30));
        for text in ["", "MiB", "-1", "1.5MiB", "64MB"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(write(64 << 20), "64MiB");
        assert_eq!(write(1000), "1000");
    }
}
