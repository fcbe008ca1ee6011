//! What a server answered.

use std::io::{self, Read};

use serde_json::Value;

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The status line and the headers, as they came.
    head: String,
    /// The body, to the letter.
    pub(crate) text: String,
    /// The body as JSON; null where it is none.
    pub(crate) body: Value,
}

impl Answer {
    /// Reads everything until the server closes the connection.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let broken = || io::Error::other(format!("no whole answer: {text:?}"));
        let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(broken)?;
        let answer = Self {
            status,
            head: head.to_owned(),
            text: body.to_owned(),
            body: serde_json::from_str(body).unwrap_or_default(),
        };
        match answer.header("content-length") {
            Some(length) if length != body.len().to_string() => Err(broken()),
            _ => Ok(answer),
        }
    }

    /// The bytes of it, as they came.
    pub(crate) fn length(&self) -> usize {
        self.head.len() + "\r\n\r\n".len() + self.text.len()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// A member of the body as text; empty where there is none.
    pub(crate) fn str(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_default()
    }

    /// What matters of it in one line: `200 Succeeded`, `409 Conflict
    /// ACTION_DECIDED`, `422 INVALID_ARGUMENTS`.
    pub(crate) fn words(&self) -> String {
        let words = [self.str("status"), self.str("errorCode"), self.str("code")];
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        format!("{} {}", self.status, words.join(" ")).trim_end().to_owned()
    }

    /// The text of a member of the body, to the letter. Members of the body that
    /// are objects themselves must not hold one of this name before it.
    #[track_caller]
    pub(crate) fn raw(&self, name: &str) -> &str {
        let start = format!("\"{name}\":");
        let (_, rest) = self.text.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", self.text));
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
        values.next().expect("a value follows").expect("it is JSON");
        &rest[..values.byte_offset()]
    }

    /// It is what these words say.
    #[track_caller]
    pub(crate) fn check(&self, words: &str) -> &Self {
        assert_eq!(self.words(), words, "{}", self.text);
        self
    }
}
