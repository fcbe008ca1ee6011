//! Texts that go out to the letter: rmcp carries a placeholder, and the text is put in its
//! place as the answer leaves.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use serde_json::{Map, Value};
use tether_core::hex::Hex;

/// The texts that one request's answer is to hold.
#[derive(Debug)]
pub(super) struct Splices {
    /// Nobody who writes an output can guess it.
    nonce: String,
    texts: Mutex<Vec<Arc<str>>>,
}

impl Splices {
    /// No texts yet.
    pub(super) fn new() -> Self {
        Self { nonce: nonce(), texts: Mutex::default() }
    }

    /// What stands for `text`, which is valid JSON: an object where the text is one.
    pub(super) fn put(&self, text: &str) -> Value {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = texts.len();
        // A line of an event has no break in it; outside of strings a blank is the same.
        let text =
            if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text.to_owned() };
        let is_object = text.trim_start().starts_with('{');
        texts.push(text.into());
        if is_object {
            Value::Object(Map::from_iter([(self.nonce.clone(), number.into())]))
        } else {
            Value::String(format!("{}:{number}", self.nonce))
        }
    }

    /// The same piece of an answer with the texts in their places.
    pub(super) fn fill(&self, piece: Bytes) -> Bytes {
        let Some(first) = find(&piece, self.nonce.as_bytes(), 0) else { return piece };
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut filled = Vec::with_capacity(piece.len() + texts.iter().map(|text| text.len()).sum::<usize>());
        let (mut from, mut next) = (0, Some(first));
        while let Some(at) = next {
            let after = at + self.nonce.len();
            match placeholder(&piece, at, after) {
                Some((start, end, number)) if start >= from && number < texts.len() => {
                    filled.extend_from_slice(&piece[from..start]);
                    filled.extend_from_slice(texts[number].as_bytes());
                    from = end;
                    next = find(&piece, self.nonce.as_bytes(), end);
                }
                _ => next = find(&piece, self.nonce.as_bytes(), after),
            }
        }
        filled.extend_from_slice(&piece[from..]);
        filled.into()
    }
}

/// From where to where the placeholder goes whose nonce is at `at..after`, and its number.
fn placeholder(piece: &[u8], at: usize, after: usize) -> Option<(usize, usize, usize)> {
    let (open, between, close): (&[u8], &[u8], &[u8]) = match piece.get(after)? {
        b'"' => (b"{\"", b"\":", b"}"),
        _ => (b"\"", b":", b"\""),
    };
    let start = at.checked_sub(open.len())?;
    let digits = after + between.len();
    if piece.get(start..at)? != open || piece.get(after..digits)? != between {
        return None;
    }
    let count = piece[digits..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(&piece[digits..digits + count]).ok()?.parse().ok()?;
    let end = digits + count + close.len();
    (piece.get(digits + count..end)? == close).then_some((start, end, number))
}

fn find(piece: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    piece.get(from..)?.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

/// 32 random hex digits.
pub(super) fn nonce() -> String {
    let mut bytes = [0; 16];
    // Without random numbers a host does not come so far.
    let _ = getrandom::fill(&mut bytes);
    Hex(&bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str]) {
        let splices = Splices::new();
        let values: Vec<_> = texts.iter().map(|text| splices.put(text)).collect();
        let piece = serde_json::to_string(&values).unwrap();
        let filled = splices.fill(format!("data: {piece}\n\n").into());
        let expected: Vec<_> = texts.iter().map(|text| text.replace('\n', " ")).collect();
        assert_eq!(filled, format!("data: [{}]\n\n", expected.join(",")));
    }

    #[test]
    fn every_text_is_put_in_to_the_letter() {
        check(&[r#"{"n":9007199254740993,"m" : 1.0}"#]);
        check(&["-0", "1e2", "\"ä\"", "null", "[1,\n2]", "{\n}"]);
        check(&[&format!("[{}1]", "1,".repeat(1 << 19))]);
        check(&[]);
    }

    #[test]
    fn what_only_looks_like_a_placeholder_stays() {
        let splices = Splices::new();
        splices.put("1");
        let nonce = splices.nonce.clone();
        for text in [format!("\"{nonce}:7\""), format!("{{\"{nonce}\":0,"), format!("x{nonce}:0\""), nonce] {
            assert_eq!(splices.fill(text.clone().into()), text);
        }
    }

    #[test]
    fn a_text_that_is_put_in_is_not_looked_into() {
        let (splices, other) = (Splices::new(), Splices::new());
        let inner = other.put("\"secret\"").to_string();
        let outer = splices.put(&inner).to_string();
        assert_eq!(splices.fill(outer.into()), inner);
    }

    #[test]
    fn no_two_requests_share_a_nonce() {
        assert_ne!(Splices::new().nonce, Splices::new().nonce);
    }
}
