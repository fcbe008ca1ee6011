//! Server-sent events, as far as a gateway sends them: the data of each is a message.

use std::collections::VecDeque;

/// The longest event, in bytes.
const LONGEST: usize = 16 << 20;

/// A stream of events, taken apart as it comes.
#[derive(Default)]
pub(super) struct Events {
    /// What came of the line that is not whole yet.
    line: Vec<u8>,
    /// The data of the event that is not whole yet, where it has some.
    data: Option<Vec<u8>>,
    /// The last piece ended in a carriage return: a line feed would belong to it.
    after_return: bool,
    whole: VecDeque<String>,
}

/// An event that nobody can take.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WrongEvent {
    #[error("an event of the answer is over {LONGEST} bytes")]
    TooLong,
    #[error("an event of the answer is not UTF-8")]
    NotText,
}

impl Events {
    /// Takes in a piece of the stream.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), WrongEvent> {
        for byte in piece {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    self.end_line()?;
                }
                byte => {
                    self.after_return = false;
                    self.line.push(*byte);
                    if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > LONGEST {
                        return Err(WrongEvent::TooLong);
                    }
                }
            }
        }
        Ok(())
    }

    /// The data of the next event that is whole.
    pub(super) fn next(&mut self) -> Option<String> {
        self.whole.pop_front()
    }

    fn end_line(&mut self) -> Result<(), WrongEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            // One without data only says that the stream is there.
            if let Some(data) = self.data.take().filter(|data| !data.is_empty()) {
                self.whole.push_back(String::from_utf8(data).map_err(|_| WrongEvent::NotText)?);
            }
            return Ok(());
        }
        // All else is a comment, or of no meaning here.
        let data = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', data @ ..] | [b':', data @ ..]) => data,
            _ => return Ok(()),
        };
        match &mut self.data {
            Some(before) => {
                before.push(b'\n');
                before.extend_from_slice(data);
            }
            None => self.data = Some(data.to_owned()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a stream that comes in pieces of so many bytes.
    fn events(stream: &[u8], size: usize) -> Vec<String> {
        let mut events = Events::default();
        stream.chunks(size).for_each(|piece| events.take(piece).unwrap());
        std::iter::from_fn(|| events.next()).collect()
    }

    #[test]
    fn events_are_the_same_wherever_the_stream_is_cut() {
        let check = |stream: &str, expected: &[&str]| {
            for size in 1..=stream.len() {
                assert_eq!(events(stream.as_bytes(), size), expected, "{stream:?} by {size}");
            }
        };
        check("data: {\"a\":1}\n\ndata:{}\n\n", &["{\"a\":1}", "{}"]);
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"]);
        check(": alive\n\nevent: message\nid: 7\nretry: 5\ndata: ä👩‍🚀\n\n", &["ä👩‍🚀"]);
        check("data: a\ndata\ndata: b\n\n", &["a\n\nb"]);
        check("\n\nevent: x\n\ndatas: x\n\ndata:\n\ndata:  x\n\n", &[" x"]);
        check("data: whole\n\ndata: never", &["whole"]);
    }

    #[test]
    fn an_event_has_an_end_and_is_text() {
        let mut stream = Events::default();
        stream.take(b"data: ").unwrap();
        let piece = vec![b'x'; 1 << 20];
        let taken = (0..16).map(|_| stream.take(&piece)).collect::<Result<Vec<_>, _>>();
        assert_eq!(taken.unwrap_err(), WrongEvent::TooLong);
        assert_eq!(Events::default().take(b"data: \xff\n\n"), Err(WrongEvent::NotText));
    }
}
