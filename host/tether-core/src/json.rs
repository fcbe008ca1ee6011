//! JSON that is kept as the text in which it came.
//!
//! Arguments and results are checked once and then passed on to the letter:
//! numbers beyond 2⁵³, the order of keys and the spelling of strings survive.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::digest::Digest;

/// Values nested deeper than this are refused.
pub const MAX_DEPTH: usize = 128;

/// Text that holds exactly one valid JSON value: no member name twice in an
/// object, no lone surrogates, no number beyond a double's range, at most
/// [`MAX_DEPTH`] levels.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Arc<str>);

/// Why a text is not taken as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJson {
    /// It does not follow RFC 8259.
    #[error("it is not valid JSON: {0}")]
    Syntax(String),
    /// Two readers could see two different values.
    #[error("the member name {0:?} occurs twice in one object")]
    DuplicateName(String),
    /// No double comes close; readers would see infinity.
    #[error("the number {0} is too large for a double")]
    NumberTooLarge(String),
    /// More than [`MAX_DEPTH`] levels.
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

impl JsonText {
    /// Checks `text` and keeps it as it is.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, InvalidJson> {
        let text = text.into();
        canonical(&text)?;
        Ok(Self(text))
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The text, to the letter.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest of the value's canonical form (RFC 8785), except that numbers
    /// stay as written: `1` and `1.0` are told apart, the order of keys is not.
    pub fn fingerprint(&self) -> Digest {
        // What `parse` accepted is accepted again.
        Digest::of(canonical(&self.0).unwrap_or_default())
    }

    /// Every string and every number in it, in their order; names of members are not
    /// among them.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let mut walk = Walk { rest: &self.0 };
        std::iter::from_fn(move || walk.next_text())
    }

    /// The value as a tree, for those who look into it. Numbers beyond 64 bits
    /// become doubles in it: it is never written out again.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JsonText {
    /// The size only: arguments and results never reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonText({} bytes)", self.0.len())
    }
}

/// The canonical form. Each byte is read a fixed number of times: neither depth nor
/// length can make it slow.
fn canonical(text: &str) -> Result<String, InvalidJson> {
    let valid: &RawValue = serde_json::from_str(text).map_err(syntax)?;
    let mut out = String::with_capacity(text.len());
    Walk { rest: valid.get() }.value(MAX_DEPTH, &mut out)?;
    Ok(out)
}

fn syntax(error: serde_json::Error) -> InvalidJson {
    InvalidJson::Syntax(error.to_string())
}

/// A walk through text that follows the syntax of JSON. What it looks for is there.
struct Walk<'a> {
    rest: &'a str,
}

impl<'a> Walk<'a> {
    /// The next byte that is no blank; 0 at the end.
    fn peek(&mut self) -> u8 {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest.as_bytes().first().copied().unwrap_or(0)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Writes the next value, which may hold so many levels.
    fn value(&mut self, depth: usize, out: &mut String) -> Result<(), InvalidJson> {
        match self.peek() {
            b'{' | b'[' if depth == 0 => Err(InvalidJson::TooDeep),
            b'{' => self.object(depth - 1, out),
            b'[' => self.array(depth - 1, out),
            b'"' => {
                write_string(&self.string()?, out);
                Ok(())
            }
            _ => self.scalar(out),
        }
    }

    fn object(&mut self, depth: usize, out: &mut String) -> Result<(), InvalidJson> {
        let mut members = Vec::new();
        self.list(b'}', |walk| {
            walk.peek();
            let name = walk.string()?;
            walk.peek();
            walk.take(1); // the colon
            let mut value = String::new();
            walk.value(depth, &mut value)?;
            members.push((name, value));
            Ok(())
        })?;
        members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
        if let Some(pair) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(InvalidJson::DuplicateName(pair[0].0.clone()));
        }
        out.push('{');
        for (index, (name, value)) in members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(name, out);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        Ok(())
    }

    fn array(&mut self, depth: usize, out: &mut String) -> Result<(), InvalidJson> {
        let mut first = true;
        out.push('[');
        self.list(b']', |walk| {
            if !first {
                out.push(',');
            }
            first = false;
            walk.value(depth, out)
        })?;
        out.push(']');
        Ok(())
    }

    /// Everything between the bracket that is next and the one that closes it.
    fn list(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), InvalidJson>,
    ) -> Result<(), InvalidJson> {
        self.take(1);
        while self.peek() != close {
            item(self)?;
            if self.peek() == b',' {
                self.take(1);
            }
        }
        self.take(1);
        Ok(())
    }

    /// The next string or number that is a value.
    fn next_text(&mut self) -> Option<String> {
        loop {
            match self.peek() {
                0 => return None,
                b'"' => {
                    let string = self.string().ok()?;
                    if self.peek() != b':' {
                        return Some(string);
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let mut number = String::new();
                    self.scalar(&mut number).ok()?;
                    return Some(number);
                }
                // Brackets, commas, colons, and the letters of `true`, `false` and `null`.
                _ => {
                    self.take(1);
                }
            }
        }
    }

    fn string(&mut self) -> Result<String, InvalidJson> {
        let (mut end, bytes) = (1, self.rest.as_bytes());
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        serde_json::from_str(self.take(end + 1)).map_err(syntax)
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self, out: &mut String) -> Result<(), InvalidJson> {
        let end = self.rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let text = self.take(end);
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        if is_number && !text.parse().is_ok_and(f64::is_finite) {
            return Err(InvalidJson::NumberTooLarge(text.chars().take(40).collect()));
        }
        out.push_str(text);
        Ok(())
    }
}

/// RFC 8785 asks for the shortest escapes, in lower case.
fn write_string(string: &str, out: &mut String) {
    out.push('"');
    for character in string.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, same: bool) {
        let [a_digest, b_digest] = [a, b].map(|text| JsonText::parse(text).unwrap().fingerprint());
        assert_eq!(a_digest == b_digest, same, "{a} and {b}");
    }

    #[test]
    fn fingerprints_agree_on_values_and_on_nothing_else() {
        check(r#"{"a":1,"b":2}"#, r#"{ "b" : 2, "a" : 1 }"#, true);
        check(r#"{"a":"\u0041\/"}"#, r#"{"a":"A/"}"#, true);
        check("[1,2]", "[2,1]", false);
        check("1", "1.0", false);
        check("1", "1e0", false);
        check("0", "-0", false);
        check("9007199254740992", "9007199254740993", false);
        check("\"\u{e9}\"", "\"e\u{301}\"", false);
        check(r#"{"a":null}"#, "{}", false);
        check(r#"{"\ud83d\ude00":1,"\ufb33":2}"#, "{\"\u{fb33}\":2,\"\u{1f600}\":1}", true);
        check(r#"["ab","c"]"#, r#"["a","bc"]"#, false);
    }

    #[test]
    fn keys_are_ordered_by_utf_16_code_units() {
        let text = canonical("{\"\u{fb33}\":1,\"\u{1f600}\":2}").unwrap();
        assert_eq!(text, "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn its_texts_are_the_strings_and_the_numbers_in_it() {
        let texts = |text: &str| JsonText::parse(text).unwrap().texts().collect::<Vec<_>>();
        assert_eq!(
            texts(r#" {"a" : "x\ny", "b":[1.50,-0,true,null,{"c":"","d":[]}], "e":false} "#),
            ["x\ny", "1.50", "-0", ""]
        );
        assert_eq!(texts("9007199254740993"), ["9007199254740993"]);
        assert_eq!(texts("null"), [""; 0]);
    }

    #[test]
    fn what_two_readers_could_understand_in_two_ways_is_refused() {
        let refused = |text: &str| JsonText::parse(text).unwrap_err();
        assert_eq!(refused(r#"{"a":{"b":1,"\u0062":2}}"#), InvalidJson::DuplicateName("b".into()));
        assert_eq!(refused("[1e400]"), InvalidJson::NumberTooLarge("1e400".into()));
        assert_eq!(refused(&"[".repeat(200).add_closing(200)), InvalidJson::TooDeep);
        for text in [r#""\ud800""#, "01", "NaN", "", "{} {}", "'a'", "[1,]", "{\"a\":1"] {
            assert!(matches!(refused(text), InvalidJson::Syntax(_)), "{text}");
        }
    }

    #[test]
    fn depth_does_not_make_it_slow() {
        // As many levels as may be, around as much as an argument holds: reading what
        // is inside once for each level would be 128 MiB.
        let inside = "1,".repeat(500_000) + "1";
        let text = format!("{}{inside}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(canonical(&text).unwrap(), text);
        assert_eq!(canonical(&format!("[{text}]")).unwrap_err(), InvalidJson::TooDeep);
    }

    trait AddClosing {
        fn add_closing(self, count: usize) -> String;
    }

    impl AddClosing for String {
        fn add_closing(self, count: usize) -> String {
            self + &"]".repeat(count)
        }
    }

    #[test]
    fn the_text_is_kept_to_the_letter() {
        let text = "{\"b\" : 9007199254740993,\n \"a\":0.10}";
        assert_eq!(JsonText::parse(text).unwrap().as_str(), text);
    }
}
