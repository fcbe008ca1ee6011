//! Names of files for names of people's choosing.

use tether_core::digest::Digest;

/// Longer ones are cut and told apart by a digest; file systems allow 255 bytes.
const LONGEST: usize = 120;

/// One safe file name for each text, different for different texts even where
/// the file system ignores case: lower-case ASCII letters, digits, `-` and `_`
/// stay, every other byte is `%` and two hex digits.
pub(crate) fn encode(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte.into()),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    if name.len() <= LONGEST {
        return name;
    }
    // `%-` follows no `%` above, so that no short name looks like this.
    let kept = &name[..LONGEST - 66];
    format!("{kept}%-{}", Digest::of(text).hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_texts_have_different_names_whatever_the_file_system_folds() {
        let long = |end: &str| "ä".repeat(127) + end;
        let texts = [
            "acme",
            "Acme",
            "ACME",
            "a/b",
            "a%2fb",
            "..",
            ".",
            "a b",
            "a_b",
            "ß",
            "ss",
            "😀",
            &long("a"),
            &long("A"),
            &long("b"),
        ];
        let mut names: Vec<_> = texts.iter().map(|text| encode(text).to_lowercase()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), texts.len());
        for name in names {
            assert!(name.len() <= LONGEST && !name.contains(['/', '.', '\\']), "{name}");
        }
    }

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(encode("tickets-2_b"), "tickets-2_b");
        assert_eq!(encode("Acme"), "%41cme");
    }
}
