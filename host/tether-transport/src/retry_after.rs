//! How long a server asks to be left alone.

use std::time::Duration;

use http::HeaderMap;
use tether_core::clock::Timestamp;

/// The wait that `headers` ask for.
pub fn parse(headers: &HeaderMap, now: Option<Timestamp>) -> Option<Duration> {
    let _ = (headers, now);
    None
}
