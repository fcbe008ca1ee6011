//! Values that leave the host and reach nobody in it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use reqwest::header::HeaderValue;
use tether_core::mask::Mask;

/// Secrets by name. They are put into a request as it leaves.
#[derive(Clone)]
pub struct Secrets {
    values: BTreeMap<String, String>,
    mask: Mask,
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
        let mask = Mask::new(values.values().cloned());
        Self { values, mask }
    }

    /// An answer with `***` in place of each secret; see [`Mask::apply`].
    pub fn mask(&self, answer: Bytes) -> Bytes {
        match self.mask.apply(&answer) {
            Cow::Borrowed(_) => answer,
            Cow::Owned(masked) => masked.into(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let pairs = [("TOKEN", "s3cr3t"), ("LONG", "s3cr3t-and-more"), ("PIN", "123"), ("ODD", "a\"b\\c")];
        Secrets::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    #[test]
    fn a_secret_is_masked_in_an_answer() {
        let mask = |text: &'static str| secrets().mask(Bytes::from_static(text.as_bytes()));
        assert_eq!(mask(r#"{"echo":"s3cr3t","odd":"a\"b\\c"}"#), &br#"{"echo":"***","odd":"***"}"#[..]);
        assert_eq!(mask("nothing, and 123"), "nothing, and 123", "a short one is not looked for");
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
