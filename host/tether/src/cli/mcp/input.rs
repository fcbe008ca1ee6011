//! Standard input, line by line.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The longest line, in bytes. What is longer is read over: a gateway takes far less, and so
/// much is needed to find out which request it was.
const LONGEST: usize = 16 << 20;

/// Lines of `source`. Nothing is lost where reading one is broken off and begun again.
pub(super) struct Input<S> {
    source: S,
    line: Vec<u8>,
    too_long: bool,
}

/// A line that is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WrongLine {
    #[error("the line is over {LONGEST} bytes")]
    TooLong,
    #[error("the line is not UTF-8")]
    NotText,
}

impl<S: AsyncBufRead + Unpin> Input<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, line: Vec::new(), too_long: false }
    }

    /// The next line that is not blank; none at the end. The last may lack its end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Result<String, WrongLine>>> {
        loop {
            let piece = self.source.fill_buf().await?;
            let is_end = piece.is_empty();
            let line = piece.iter().position(|byte| *byte == b'\n');
            let length = line.unwrap_or(piece.len());
            if self.line.len() + length > LONGEST {
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(&piece[..length]);
            }
            self.source.consume(line.map_or(length, |length| length + 1));
            if line.is_none() && !is_end {
                continue;
            }
            let too_long = std::mem::take(&mut self.too_long);
            let line = std::mem::take(&mut self.line);
            if too_long {
                return Ok(Some(Err(WrongLine::TooLong)));
            }
            let Ok(line) = String::from_utf8(line) else { return Ok(Some(Err(WrongLine::NotText))) };
            let line = line.trim();
            if !line.is_empty() {
                return Ok(Some(Ok(line.to_owned())));
            }
            if is_end {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &[u8]) -> Vec<Result<String, WrongLine>> {
        let mut input = Input::new(bytes);
        let mut lines = Vec::new();
        while let Some(line) = input.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn a_line_ends_as_it_likes_and_blank_ones_are_none() {
        let whole = |text: &str| Ok(text.to_owned());
        assert_eq!(lines(b"{}\n\n  \r\n[1]\r\n 5 \nlast").await, ["{}", "[1]", "5", "last"].map(whole));
        assert_eq!(lines(b"").await, []);
        assert_eq!(lines(b"\xff\n{}\n").await, [Err(WrongLine::NotText), whole("{}")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_read_over() {
        let long = vec![b'x'; LONGEST + 1];
        let bytes = [&long[1..], b"\n", &long, b"\n{}\n", &long].concat();
        let lines = lines(&bytes).await;
        assert_eq!(lines[0].as_ref().map(String::len), Ok(LONGEST));
        assert_eq!(lines[1..], [Err(WrongLine::TooLong), Ok("{}".into()), Err(WrongLine::TooLong)]);
    }
}
