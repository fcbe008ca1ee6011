//! Secrets: what `${NAME}` and `${file:PATH}` in a header stand for, or in what belongs to
//! a webhook.
//!
//! Only their names are kept with the grants; the values are put into a request
//! as it leaves. No message here holds a value.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use tether_transport::outbound::Secrets;

use super::section::Source;

/// Bytes of one header's value, secrets filled in.
const LONGEST: usize = 8 << 10;

/// The secrets that were asked for until now.
pub(super) struct Vault<'a> {
    source: &'a Source,
    values: BTreeMap<String, String>,
}

impl<'a> Vault<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, values: BTreeMap::new() }
    }

    /// Looks up every secret of a header's value; the value as it is kept. The error
    /// says what is wrong with which of them, or with the text around them.
    pub(super) fn learn(&mut self, value: &str) -> Result<String, String> {
        if value.trim_ascii() != value || !can_be_sent(value) {
            return Err("it must be printable ASCII, without spaces around it".to_owned());
        }
        let (mut kept, mut length) = (String::new(), 0);
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('$') {
            kept.push_str(before);
            length += before.len();
            rest = if let Some(after) = after.strip_prefix('$') {
                // A name like the others from here on: nobody else has to know `$$`.
                kept.push_str("${$}");
                self.values.insert("$".to_owned(), "$".to_owned());
                length += 1;
                after
            } else if let Some((name, after)) = after.strip_prefix('{').and_then(|text| text.split_once('}'))
            {
                kept.push_str(&format!("${{{name}}}"));
                length += self.look_up(name)?.len();
                after
            } else {
                return Err(
                    "a `$` begins `${NAME}` or `${file:PATH}`; write `$$` for a dollar sign".to_owned()
                );
            };
        }
        if length + rest.len() > LONGEST {
            return Err(format!("it must have at most {LONGEST} bytes"));
        }
        kept.push_str(rest);
        Ok(kept)
    }

    /// The same with the secrets in it, for what the host keeps to itself: no grant, no
    /// header of a destination.
    pub(super) fn filled(&mut self, value: &str) -> Result<String, String> {
        let kept = self.learn(value)?;
        let filled = Secrets::new(self.values.clone()).fill(&kept).map_err(|error| error.to_string())?;
        filled.to_str().map(str::to_owned).map_err(|error| error.to_string())
    }

    /// Everything that was learnt.
    pub(super) fn close(self) -> Secrets {
        Secrets::new(self.values)
    }

    fn look_up(&mut self, name: &str) -> Result<&str, String> {
        if !self.values.contains_key(name) {
            let value = match name.strip_prefix("file:") {
                Some(path) => self.of_file(name, path)?,
                None => self.of_environment(name)?,
            };
            if value.is_empty() {
                return Err(format!("the secret `${{{name}}}` is empty"));
            }
            if !can_be_sent(&value) {
                return Err(format!(
                    "the secret `${{{name}}}` cannot be sent: it must be printable ASCII, in one line"
                ));
            }
            self.values.insert(name.to_owned(), value);
        }
        Ok(&self.values[name])
    }

    fn of_environment(&self, name: &str) -> Result<String, String> {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty()
            || !name.bytes().all(word)
            || name.starts_with(|first: char| first.is_ascii_digit())
        {
            return Err(format!(
                "`${{{name}}}` names no environment variable; write it like `${{API_TOKEN}}`, \
                 or `${{file:PATH}}` for a file"
            ));
        }
        self.source.environment.get(name).cloned().ok_or_else(|| {
            format!(
                "the environment variable {name} is not set; set it, or write `${{file:PATH}}` for a file"
            )
        })
    }

    /// The text of a file, without the line's end that editors put there. A
    /// relative path starts at the configuration.
    fn of_file(&self, name: &str, path: &str) -> Result<String, String> {
        let read = || {
            // A little more than fits, so that what is longer is refused and not cut.
            let mut file = File::open(self.source.base.join(path))?.take(LONGEST as u64 + 3);
            let mut text = String::new();
            file.read_to_string(&mut text).map(|_| text)
        };
        let text =
            read().map_err(|error: io::Error| format!("the secret `${{{name}}}` cannot be read: {error}"))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
    }
}

/// Tabs set fields apart where grants are stored.
fn can_be_sent(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
