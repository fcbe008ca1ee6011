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
    masked: Vec<Vec<u8>>,
    /// Whether one of those begins with the byte.
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
        let mut masked: Vec<_> = values
            .values()
            .filter(|value| value.len() >= SHORTEST_MASKED)
            .flat_map(|value| [value.clone().into_bytes(), escaped(value)])
            .collect();
        masked.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        masked.dedup();
        let mut begins = [false; 256];
        for first in masked.iter().filter_map(|secret| secret.first()) {
            begins[usize::from(*first)] = true;
        }
        Self { values, masked, begins }
    }

    /// `bytes` with `***` in place of each secret of at least 4 bytes, as it is and as
    /// it stands in a JSON string. Other spellings of it (base64, say) are not found.
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
        let secret = || self.masked.iter().find(|secret| bytes.starts_with(secret));
        begins.then(secret).flatten().map(Vec::len)
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

/// As it stands between the quotes of a JSON string.
fn escaped(value: &str) -> Vec<u8> {
    // A string is always written, between quotes.
    let quoted = serde_json::to_string(value).unwrap_or_default().into_bytes();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_vec()
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
