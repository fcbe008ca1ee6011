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
#[derive(Clone, Default)]
pub struct Secrets {
    values: BTreeMap<String, String>,
    /// What is looked for in answers; longest first, so that a secret which holds
    /// another one goes as a whole.
    masked: Vec<Vec<u8>>,
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
        Self { values, masked }
    }

    /// `bytes` with `***` in place of each secret of at least 4 bytes, as it is and as
    /// it stands in a JSON string. Other spellings of it (base64, say) are not found.
    pub fn mask(&self, bytes: Bytes) -> Bytes {
        let Some(first) = self.find(&bytes) else { return bytes };
        let mut masked = BytesMut::with_capacity(bytes.len());
        let (mut rest, mut found) = (&bytes[..], Some(first));
        while let Some((at, length)) = found {
            masked.extend_from_slice(&rest[..at]);
            masked.extend_from_slice(MASK);
            rest = &rest[at + length..];
            found = self.find(rest);
        }
        masked.extend_from_slice(rest);
        masked.freeze()
    }

    /// Where the first secret begins, and how long it is.
    fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let at = |secret: &Vec<u8>| {
            let at = bytes.windows(secret.len()).position(|window| window == secret)?;
            Some((at, secret.len()))
        };
        // Of several that begin at one place, the longest comes first.
        self.masked.iter().filter_map(at).min_by_key(|(at, _)| *at)
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

impl fmt::Debug for Secrets {
    /// The names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.values.keys().collect::<Vec<_>>()).finish()
    }
}

/// As it stands between the quotes of a JSON string.
fn escaped(value: &str) -> Vec<u8> {
    // A string is always written.
    let quoted = serde_json::to_string(value).unwrap_or_default();
    quoted.trim_start_matches('"').as_bytes()[..quoted.len().saturating_sub(2)].to_vec()
}
