//! Texts that must not be shown, found wherever they stand.

use std::borrow::Cow;

/// What stands where a text was.
const MASK: &[u8] = b"***";

/// Shorter texts are not looked for: they would be found everywhere, and hide nothing
/// that could not be guessed.
const SHORTEST: usize = 4;

/// Puts `***` in place of certain texts.
#[derive(Clone)]
pub struct Mask {
    /// Longest first, so that a text which holds another one goes as a whole.
    texts: Vec<String>,
    /// Whether one of them begins with the byte, in some spelling.
    begins: [bool; 256],
}

impl Mask {
    /// Masks those of `texts` that have at least 4 bytes.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let mut texts: Vec<_> = texts.into_iter().filter(|text| text.len() >= SHORTEST).collect();
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        let mut begins = [false; 256];
        for first in texts.iter().filter_map(|text| text.bytes().next()) {
            begins[usize::from(first)] = true;
            begins[usize::from(b'\\')] = true;
        }
        Self { texts, begins }
    }

    /// `bytes` with `***` in place of each text, as it is and in any spelling of it in a
    /// JSON string. Others (base64, say, or with `%2F`) are not found.
    pub fn apply<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut masked = Vec::new();
        // One pass, whatever they hold: `copied` of them is in `masked` already.
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            match self.text_at(&bytes[at..]) {
                Some(length) => {
                    masked.extend_from_slice(&bytes[copied..at]);
                    masked.extend_from_slice(MASK);
                    at += length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        if copied == 0 {
            return Cow::Borrowed(bytes);
        }
        masked.extend_from_slice(&bytes[copied..]);
        Cow::Owned(masked)
    }

    /// The length of the longest text that `bytes` begin with.
    fn text_at(&self, bytes: &[u8]) -> Option<usize> {
        let begins = bytes.first().is_some_and(|first| self.begins[usize::from(*first)]);
        let length = |text: &String| {
            if bytes.starts_with(text.as_bytes()) { Some(text.len()) } else { in_json(text, bytes) }
        };
        if begins { self.texts.iter().find_map(length) } else { None }
    }
}

/// How many of `bytes` spell `text` between the quotes of a JSON string, if they begin
/// with it. Writers differ: some put a backslash before a slash, and most write one
/// character or another as `\u` and four digits.
fn in_json(text: &str, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for character in text.chars() {
        at += character_in_json(character, bytes.get(at..)?)?;
    }
    Some(at)
}

fn character_in_json(character: char, bytes: &[u8]) -> Option<usize> {
    let mut plain = [0; 4];
    let plain = character.encode_utf8(&mut plain).as_bytes();
    if bytes.first() != Some(&b'\\') {
        return bytes.starts_with(plain).then_some(plain.len());
    }
    if matches!(character, '"' | '\\' | '/') && bytes.get(1) == plain.first() {
        return Some(2);
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    let spells = |(place, unit): (usize, &u16)| {
        let digits = bytes.get(6 * place..6 * place + 6).and_then(|text| text.strip_prefix(b"\\u"));
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) == Some(*unit)
    };
    let length = 6 * units.len();
    (*units).iter().enumerate().all(spells).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, masked: &str) {
        let texts = ["s3cr3t", "s3cr3t-and-more", "123", "a\"b\\c"];
        assert_eq!(*Mask::new(texts.map(str::to_owned)).apply(text.as_bytes()), *masked.as_bytes());
    }

    #[test]
    fn a_text_is_masked_wherever_it_stands() {
        check("s3cr3t", "***");
        check("s3cr3ts3cr3t and s3cr3t", "****** and ***");
        check("s3cr3 3cr3t", "s3cr3 3cr3t");
        check("", "");
    }

    #[test]
    fn of_two_texts_the_longer_goes_as_a_whole() {
        check("s3cr3t-and-more s3cr3t-and", "*** ***-and");
    }

    #[test]
    fn a_text_is_found_as_json_spells_it() {
        check(r#"{"echo":"a\"b\\c"}"#, r#"{"echo":"***"}"#);
        check("a\"b\\c", "***");
    }

    #[test]
    fn a_text_is_found_in_every_spelling_of_json() {
        let text = "k/<&>€🔑\"\\z";
        let mask = Mask::new([text.to_owned()]);
        for spelled in [
            text,
            r#"k/<&>€🔑\"\\z"#,
            r#"k\/<&>€🔑\"\\z"#,
            r#"k/\u003c\u0026\u003e\u20ac\ud83d\udd11\"\\z"#,
            r#"\u006B\u002F\u003C\u0026\u003E\u20AC\uD83D\uDD11\u0022\u005C\u007A"#,
        ] {
            assert_eq!(*mask.apply(format!("[{spelled}]").as_bytes()), *b"[***]", "{spelled}");
        }
        for other in [r"k\u002", r"\u+06b/", r"\", r"k\/<&>€\ud83d", r"\u006b\u006b"] {
            assert_eq!(*mask.apply(other.as_bytes()), *other.as_bytes());
        }
    }

    #[test]
    fn a_short_text_is_not_looked_for() {
        check("123", "123");
    }
}
