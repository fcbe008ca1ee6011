//! What of a request is decided before anything happens: pure.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use reqwest::Url;
use tether_core::destination::{Destination, Method};

use super::lane::Lane;
use super::{Request, SendError, Settings, headers};

/// The longest URL that is sent, in bytes.
const LONGEST_URL: usize = 8 * 1024;

/// A request that may be sent.
#[derive(Clone)]
pub(super) struct Checked {
    /// By which destination.
    pub(super) lane: Arc<Lane>,
    /// Its method.
    pub(super) method: Method,
    /// Its address, in normal form.
    pub(super) url: Url,
    /// The handler's own headers.
    pub(super) headers: HeaderMap,
    /// The body.
    pub(super) body: Bytes,
}

/// Checks `request` against the destinations of a component, for a read or a write.
pub(super) fn check(
    request: Request,
    lanes: &[Arc<Lane>],
    reading: bool,
    settings: &Settings,
) -> Result<Checked, SendError> {
    let Request { method, url, mut headers, body, step: _ } = request;
    let method: Method = method.parse().map_err(|invalid| denied(format!("{invalid}")))?;
    let url = parse_url(&url)?;
    let size =
        body.len() + headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>();
    if size > settings.max_request_bytes {
        return Err(refused(format!(
            "headers and body are {size} bytes; {} may be sent",
            settings.max_request_bytes
        )));
    }
    headers::take_length(&mut headers, body.len()).map_err(denied)?;
    let lane = choose(lanes, &method, &url, reading)?.clone();
    for name in headers.keys() {
        if let Some(reason) = headers::denied(name, &lane.destination) {
            return Err(denied(reason));
        }
    }
    Ok(Checked { lane, method, url, headers, body })
}

/// The URL in its normal form, without what is never sent of it.
pub(crate) fn parse_url(text: &str) -> Result<Url, SendError> {
    if text.len() > LONGEST_URL {
        return Err(refused(format!("the URL is over {LONGEST_URL} bytes")));
    }
    let mut url = Url::parse(text).map_err(|error| denied(format!("the URL is none: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(denied(format!("the URL's scheme is {:?}; http or https is sent", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(denied("the URL names a user; credentials are sent in headers".to_owned()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The first destination that is there and lets the method through. A URL that names an
/// address is matched by a grant of just this address and by no other, so nothing
/// remains to be asked about it.
pub(super) fn choose<'a>(
    lanes: &'a [Arc<Lane>],
    method: &Method,
    url: &Url,
    reading: bool,
) -> Result<&'a Arc<Lane>, SendError> {
    let there = |lane: &&Arc<Lane>| matches(&lane.destination, url);
    let Some(lane) = lanes.iter().filter(there).find(|lane| lane.destination.lets(method, reading)) else {
        return Err(denied(not_granted(lanes.iter().filter(there), method, url, reading)));
    };
    Ok(lane)
}

fn matches(destination: &Destination, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().is_some_and(|port| destination.origin.matches(url.scheme(), host, port))
}

fn not_granted<'a>(
    mut there: impl Iterator<Item = &'a Arc<Lane>>,
    method: &Method,
    url: &Url,
    reading: bool,
) -> String {
    let origin = origin(url);
    let Some(first) = there.next() else {
        return format!("{origin} is not granted; the operator can add it to the component's destinations");
    };
    let mut text = format!("{method} to {origin} is not granted");
    let writes =
        first.destination.lets(method, false) || there.any(|lane| lane.destination.lets(method, false));
    // Writing to a String never fails.
    let _ = match (reading, writes) {
        (true, true) => write!(
            text,
            " to a read; if it changes something the tool is a write, else the operator can add it to the \
             destination's read_methods"
        ),
        _ => write!(text, "; the operator can add it to the destination's methods"),
    };
    text
}

/// Scheme, host, and the port where it is not the scheme's own.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The operator did not grant it, or it is no request.
pub(super) fn denied(reason: impl Into<String>) -> SendError {
    SendError::Denied(reason.into())
}

/// It is against a rule or over a limit of the host.
pub(super) fn refused(reason: impl Into<String>) -> SendError {
    SendError::Refused(reason.into())
}

#[cfg(test)]
mod tests;
