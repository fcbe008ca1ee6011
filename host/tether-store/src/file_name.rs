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

/// The text that [`encode`] made this name of; none where it was cut, or is no such name.
pub(crate) fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(rest.next()?)? << 4 | digit(rest.next()?)?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| encode(text) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_not_cut_tells_its_text() {
        for text in ["acme", "Acme", "a/b", "..", "ß 😀", "%-", ""] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
        for name in ["Acme", "%", "%4", "%ff", "a b", &encode(&"ä".repeat(128))] {
            assert_eq!(decode(name), None, "{name}");
        }
    }

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
