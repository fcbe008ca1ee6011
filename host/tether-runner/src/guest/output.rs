//! A guest's standard output and error: they go to the host's log.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use tether_core::plain::shown;

/// Bytes of one line; a longer one becomes several.
const MAX_LINE: usize = 8 << 10;

/// Bytes and lines that one call may have logged, both streams together.
const MAX_CALL: usize = 64 << 10;
const MAX_LINES: usize = 1_000;

/// Whose output it is.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    /// The call's key, or `describe` while a component is loaded.
    pub(crate) request_id: String,
    /// The tool; of `describe`, the component.
    pub(crate) tool: String,
}

/// Standard output and standard error of one call.
pub(crate) fn streams(speaker: Speaker) -> (GuestStream, GuestStream) {
    let call = Arc::new(Call { speaker, left: Mutex::new(Left { bytes: MAX_CALL, lines: MAX_LINES }) });
    let stream =
        |name| GuestStream(Arc::new(Mutex::new(Line { call: Arc::clone(&call), name, text: Vec::new() })));
    (stream("stdout"), stream("stderr"))
}

struct Call {
    speaker: Speaker,
    left: Mutex<Left>,
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
    fn log(&self, stream: &'static str, line: &[u8]) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_nothing() {
            return;
        }
        let Speaker { request_id, tool } = &self.speaker;
        left.bytes = left.bytes.saturating_sub(line.len());
        left.lines -= 1;
        let text = shown(&String::from_utf8_lossy(line));
        tracing::info!(target: "tether::guest", request_id, tool, stream, "{text}");
        if left.is_nothing() {
            let rest = "what this call writes from here on is not logged";
            tracing::info!(target: "tether::guest", request_id, tool, stream, "{rest}");
        }
    }
}

/// The line that is being written; its rest is logged when the call is over.
struct Line {
    call: Arc<Call>,
    name: &'static str,
    text: Vec<u8>,
}

impl Line {
    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            for part in text.chunks(MAX_LINE) {
                if self.text.len() + part.len() > MAX_LINE {
                    self.end();
                }
                self.text.extend_from_slice(part);
            }
            if ended {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.call.log(self.name, &self.text);
        self.text.clear();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            self.end();
        }
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
