//! The requests of one attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Request, Response, SendError};

/// What one attempt of one call sends.
pub struct Sender {
    settled: AtomicBool,
}

impl Sender {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { settled: AtomicBool::new(false) })
    }

    /// Sends `request` under the attempt's course and answers with what came back last.
    ///
    /// Dropping the future cancels the request: its connection is closed.
    pub fn send(
        self: &Arc<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Response, SendError>> + Send + 'static {
        let _ = request;
        async { Err(SendError::Denied("nothing is sent yet".to_owned())) }
    }

    /// The main record is written: nothing unsafe leaves any more.
    pub fn settled(&self) {
        self.settled.store(true, Ordering::SeqCst);
    }

    /// How long the last answer that failed asked to be left alone, from now.
    pub fn retry_after(&self) -> Option<Duration> {
        None
    }
}
