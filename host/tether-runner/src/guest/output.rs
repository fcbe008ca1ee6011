//! A guest's standard output and error: they go to the host's log.
//!
//! What a guest prints is what its author chose to say. On standard error there is more:
//! language runtimes write there what a panic or an uncaught exception said, and that
//! quotes whatever the handler was at work with. So values of the arguments are masked
//! in it.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tether_core::json::JsonText;
use tether_core::mask::Mask;
use tether_core::plain::shown;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes of one line in the log; a longer one becomes several.
const MAX_LINE: usize = 8 << 10;

/// Bytes and lines that one call may have logged, both streams together.
const MAX_CALL: usize = 64 << 10;
const MAX_LINES: usize = 1_000;

/// Values that are looked for, and their bytes in all: bounds what it takes to look.
const MOST_MASKED: usize = 256;
const MOST_MASKED_BYTES: usize = 16 << 10;

/// Whose output it is.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    /// The call's key, or `describe` while a component is loaded.
    pub(crate) request_id: String,
    /// The tool; of `describe`, the component.
    pub(crate) tool: String,
    /// What it was called with; nothing of `describe`.
    pub(crate) arguments: Option<JsonText>,
}

/// Standard output and standard error of one call.
pub(crate) fn streams(speaker: Speaker) -> (GuestStream, GuestStream) {
    let left = Mutex::new(Left { bytes: MAX_CALL, lines: MAX_LINES });
    let call = Arc::new(Call { speaker, left, masked: OnceLock::new() });
    let stream = |name| {
        let (call, text) = (Arc::clone(&call), Vec::new());
        GuestStream(Arc::new(Mutex::new(Line { call, name, text, cut: false })))
    };
    (stream(Name::Stdout), stream(Name::Stderr))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Stdout,
    Stderr,
}

impl Name {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

struct Call {
    speaker: Speaker,
    left: Mutex<Left>,
    /// Made at the first line that needs it; none where there is too much to look for.
    masked: OnceLock<Option<Mask>>,
}

/// What a call may still have logged: nothing more, once either is used up.
struct Left {
    bytes: usize,
    lines: usize,
}

impl Left {
    fn is_nothing(&self) -> bool {
        self.bytes == 0 || self.lines == 0
    }
}

impl Call {
    /// Logs a line, which may have been `cut`.
    fn log(&self, stream: Name, line: &[u8], cut: bool) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let line = match stream {
            Name::Stdout => Cow::Borrowed(line),
            Name::Stderr => self.masked(line, cut),
        };
        for part in line.chunks(MAX_LINE) {
            self.log_part(stream.as_str(), part);
        }
    }

    fn log_part(&self, stream: &'static str, part: &[u8]) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_nothing() {
            return;
        }
        let Speaker { request_id, tool, .. } = &self.speaker;
        left.bytes = left.bytes.saturating_sub(part.len());
        left.lines -= 1;
        let text = shown(&String::from_utf8_lossy(part));
        tracing::info!(target: "tether::guest", request_id, tool, stream, "{text}");
        if left.is_nothing() {
            let rest = "what this call writes from here on is not logged";
            tracing::info!(target: "tether::guest", request_id, tool, stream, "{rest}");
        }
    }

    /// The line without values of the arguments. Where that cannot be promised, it is
    /// not shown at all.
    fn masked<'a>(&self, line: &'a [u8], cut: bool) -> Cow<'a, [u8]> {
        match self.masked.get_or_init(|| mask(self.speaker.arguments.as_ref())) {
            Some(mask) if !cut => mask.apply(line),
            Some(_) => Cow::Borrowed(b"(a line that is too long to be masked)"),
            None => Cow::Borrowed(b"(a line that is not masked: the arguments hold too much)"),
        }
    }
}

/// What masks the values in `arguments`, and each line of theirs.
fn mask(arguments: Option<&JsonText>) -> Option<Mask> {
    let mut texts: Vec<String> = Vec::new();
    let mut bytes = 0;
    for text in arguments.into_iter().flat_map(JsonText::texts) {
        bytes += text.len();
        texts.extend(text.lines().filter(|line| line.len() < text.len()).map(str::to_owned));
        texts.push(text);
        if texts.len() > MOST_MASKED || bytes > MOST_MASKED_BYTES {
            return None;
        }
    }
    Some(Mask::new(texts))
}

/// The line that is being written; its rest is logged when the call is over.
struct Line {
    call: Arc<Call>,
    name: Name,
    text: Vec<u8>,
    /// More was written than may be logged.
    cut: bool,
}

impl Line {
    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = text.len().min(MAX_CALL - self.text.len());
            self.text.extend_from_slice(&text[..room]);
            self.cut |= room < text.len();
            if ended {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.call.log(self.name, &self.text, self.cut);
        self.text.clear();
        self.cut = false;
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.end();
    }
}

/// One stream; every handle that the guest asks for writes to the same line.
#[derive(Clone)]
pub(crate) struct GuestStream(Arc<Mutex<Line>>);

impl GuestStream {
    fn log(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes);
    }
}

impl IsTerminal for GuestStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for GuestStream {
    async fn ready(&mut self) {}
}

impl OutputStream for GuestStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.log(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_CALL)
    }
}

impl AsyncWrite for GuestStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
