//! Requests of handlers, under the transport policy.

use std::sync::Arc;

use bytes::Bytes;
use tether_core::destination::Destination;
use tether_core::id::RequestId;
use tether_core::port::journal::Journal;
use tether_core::retry::Allowance;

mod error;
mod request;
mod secrets;
mod sender;

pub use error::{SendError, SetUpError};
pub use request::Request;
pub use secrets::{Secrets, Unfilled};
pub use sender::Sender;

/// How requests are sent, for a whole host.
#[derive(Debug)]
pub struct Settings {
    /// An answer's body may be so many bytes, counted as they arrive: the host
    /// decompresses nothing.
    pub max_answer_bytes: usize,
    /// A request's body may be so many bytes.
    pub max_request_bytes: usize,
    /// So many requests may be asked for in one attempt; repetitions and redirects,
    /// which the host makes, are not counted.
    pub max_requests: usize,
    /// Certificates that are trusted besides the system's, in PEM; may be empty.
    pub extra_roots: Vec<u8>,
    /// What the headers of destinations are filled in with.
    pub secrets: Secrets,
}

/// The way out of the host: one for each host, cheap to clone.
#[derive(Clone)]
pub struct Outbound(Arc<Settings>);

/// What an attempt may do with its requests.
#[derive(Clone)]
pub enum Course {
    /// Send what a read may send, and repeat it out of the call's allowance.
    Read(Arc<Allowance>),
    /// Send each request once, noted first.
    Write(Arc<dyn Journal>),
}

impl Outbound {
    /// Requests by `settings`.
    pub fn new(settings: Settings) -> Result<Self, SetUpError> {
        crate::tls::install_provider();
        Ok(Self(Arc::new(settings)))
    }

    /// What one attempt of one call sends, to `destinations` and nowhere else.
    pub fn sender(&self, destinations: &[Destination], key: RequestId, course: Course) -> Arc<Sender> {
        let _ = (destinations, key, course);
        Sender::new()
    }
}

/// The whole answer to a request.
pub type Response = http::Response<Bytes>;
