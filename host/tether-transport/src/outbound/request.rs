//! What a handler asks to have sent.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;
use tether_core::id::StepName;

/// A request, as a handler words it: nothing of it is checked yet.
#[derive(Clone)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The URL, absolute, `http` or `https`, up to 8 KiB.
    pub url: String,
    /// The headers. Those that the host sets are denied.
    pub headers: HeaderMap,
    /// The body, sent with its length.
    pub body: Bytes,
    /// Names this request within a write that sends several.
    pub step: Option<StepName>,
}

impl fmt::Debug for Request {
    /// Neither query, headers nor body: they are in no log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, body, step, .. } = self;
        f.debug_struct("Request")
            .field("method", method)
            .field("body", &format_args!("{} bytes", body.len()))
            .field("step", step)
            .finish_non_exhaustive()
    }
}
