//! Values that leave the host and reach nobody in it.

use std::collections::BTreeMap;
use std::fmt;

use bytes::{Bytes, BytesMut};
use reqwest::header::HeaderValue;

/// What stands in an answer where a secret was.
const MASK: &[u8] = b"***";

/// Shorter values are not looked for in answers: they would be found everywhere, and
/// hide nothing that could not be guessed.
const SHORTEST_MASKED: usize = 4;

/// Secrets by name. They are put into a request as it leaves.
#[derive(Clone)]
pub struct Secrets {
    values: BTreeMap<String, String>,
    /// What is looked for in answers; longest first, so that a secret which holds
    /// another one goes as a whole.
    masked: Vec<String>,
    /// Whether one of those begins with the byte, in some spelling.
    begins: [bool; 256],
}

/// Why a header has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    /// No secret has the name.
    #[error("no secret is called {0:?}")]
    Missing(String),
    /// A `${` without its `}`.
    #[error("a `${{` has no `}}`")]
    Open,
    /// A control character in it.
    #[error("its value holds characters that no header has")]
    Characters,
}

impl Secrets {
    /// These values, by name.
    pub fn new(values: BTreeMap<String, String>) -> Self {
        let mut masked: Vec<_> =
            values.values().filter(|value| value.len() >= SHORTEST_MASKED).cloned().collect();
        masked.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        masked.dedup();
        let mut begins = [false; 256];
        for first in masked.iter().filter_map(|secret| secret.bytes().next()) {
            begins[usize::from(first)] = true;
            begins[usize::from(b'\\')] = true;
        }
        Self { values, masked, begins }
    }

    /// `bytes` with `***` in place of each secret of at least 4 bytes, as it is and in
    /// any spelling of it in a JSON string. Others (base64, say, or with `%2F`) are not
    /// found.
    pub fn mask(&self, bytes: Bytes) -> Bytes {
        let mut masked = BytesMut::new();
        // One pass, whatever the answer holds: `copied` of it is in `masked` already.
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            match self.secret_at(&bytes[at..]) {
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
            return bytes;
        }
        masked.extend_from_slice(&bytes[copied..]);
        masked.freeze()
    }

    /// The length of the longest secret that `bytes` begin with.
    fn secret_at(&self, bytes: &[u8]) -> Option<usize> {
        let begins = bytes.first().is_some_and(|first| self.begins[usize::from(*first)]);
        let length = |secret: &String| {
            if bytes.starts_with(secret.as_bytes()) { Some(secret.len()) } else { in_json(secret, bytes) }
        };
        if begins { self.masked.iter().find_map(length) } else { None }
    }

    /// The value of a header, `${NAME}` in `template` replaced by the secret of that
    /// name; marked so that no log prints it.
    pub fn fill(&self, template: &str) -> Result<HeaderValue, Unfilled> {
        let (mut value, mut rest) = (String::with_capacity(template.len()), template);
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').ok_or(Unfilled::Open)?;
            value.push_str(before);
            value.push_str(self.values.get(name).ok_or_else(|| Unfilled::Missing(name.to_owned()))?);
            rest = after;
        }
        value.push_str(rest);
        let mut value = HeaderValue::try_from(value).map_err(|_| Unfilled::Characters)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl Default for Secrets {
    /// None.
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl fmt::Debug for Secrets {
    /// The names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.values.keys().collect::<Vec<_>>()).finish()
    }
}

/// How many of `bytes` spell `secret` between the quotes of a JSON string, if they
/// begin with it. Writers differ: some put a backslash before a slash, and most write
/// one character or another as `\u` and four digits.
fn in_json(secret: &str, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for character in secret.chars() {
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

    fn secrets() -> Secrets {
        let pairs = [("TOKEN", "s3cr3t"), ("LONG", "s3cr3t-and-more"), ("PIN", "123"), ("ODD", "a\"b\\c")];
        Secrets::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[track_caller]
    fn check(text: &str, masked: &str) {
        assert_eq!(secrets().mask(Bytes::copy_from_slice(text.as_bytes())), masked.as_bytes());
    }

    #[test]
    fn a_secret_is_masked_wherever_it_stands() {
        check("s3cr3t", "***");
        check("s3cr3ts3cr3t and s3cr3t", "****** and ***");
        check("s3cr3 3cr3t", "s3cr3 3cr3t");
        check("", "");
    }

    #[test]
    fn of_two_secrets_the_longer_goes_as_a_whole() {
        check("s3cr3t-and-more s3cr3t-and", "*** ***-and");
    }

    #[test]
    fn a_secret_is_found_as_json_spells_it() {
        check(r#"{"echo":"a\"b\\c"}"#, r#"{"echo":"***"}"#);
        check("a\"b\\c", "***");
    }

    #[test]
    fn a_secret_is_found_in_every_spelling_of_json() {
        let secret = "k/<&>€🔑\"\\z";
        let secrets = Secrets::new([("KEY".to_owned(), secret.to_owned())].into());
        let masked = |text: &str| secrets.mask(Bytes::copy_from_slice(text.as_bytes()));
        for text in [
            secret,
            r#"k/<&>€🔑\"\\z"#,
            r#"k\/<&>€🔑\"\\z"#,
            r#"k/\u003c\u0026\u003e\u20ac\ud83d\udd11\"\\z"#,
            r#"\u006B\u002F\u003C\u0026\u003E\u20AC\uD83D\uDD11\u0022\u005C\u007A"#,
        ] {
            assert_eq!(masked(&format!("[{text}]")), &b"[***]"[..], "{text}");
        }
        for text in [r"k\u002", r"\u+06b/", r"\", r"k\/<&>€\ud83d", r"\u006b\u006b"] {
            assert_eq!(masked(text), text.as_bytes());
        }
    }

    #[test]
    fn a_short_secret_is_not_looked_for() {
        check("123", "123");
    }

    #[test]
    fn a_template_is_filled_in() {
        let fill = |template: &str| secrets().fill(template).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(fill("Bearer ${TOKEN}").unwrap(), "Bearer s3cr3t");
        assert_eq!(fill("${PIN}${PIN}$").unwrap(), "123123$");
        assert_eq!(fill("plain").unwrap(), "plain");
        assert_eq!(fill("${NONE}").unwrap_err(), Unfilled::Missing("NONE".to_owned()));
        assert_eq!(fill("${TOKEN").unwrap_err(), Unfilled::Open);
        assert_eq!(fill("a\nb").unwrap_err(), Unfilled::Characters);
    }

    #[test]
    fn neither_the_secrets_nor_a_filled_header_print_a_value() {
        let filled = secrets().fill("${TOKEN}").unwrap();
        assert!(!format!("{:?} {filled:?}", secrets()).contains("s3cr3t"));
    }
}
