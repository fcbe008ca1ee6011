//! Which headers a handler may set, and which it gets to see.

use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue};
use tether_core::destination::Destination;

/// The key under which a peer recognises a repetition.
pub(crate) const KEY: HeaderName = HeaderName::from_static("x-tether-idempotency-key");

/// What of a handler's headers goes to another origin after a redirect. Any other
/// could hold what is meant for the first origin only.
const CROSSING: [HeaderName; 4] = [
    http::header::ACCEPT,
    http::header::ACCEPT_ENCODING,
    http::header::ACCEPT_LANGUAGE,
    http::header::USER_AGENT,
];

/// Headers of one connection, not of the message; and `proxy-*`.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// With these a POST acts as another method, behind the back of whoever granted POST.
const METHOD_OVERRIDES: [&str; 4] =
    ["x-http-method", "x-http-method-override", "x-http-methodoverride", "x-method-override"];

/// With these a handler gets an answer in parts. `request-range` is older than the
/// standard, and some servers still know it.
const RANGES: [&str; 2] = ["range", "request-range"];

/// Whether requests to `destination` have secrets in their headers.
pub(crate) fn carry_secrets(destination: &Destination) -> bool {
    destination.headers.values().any(|value| value.contains("${"))
}

/// Why a handler may not set the header, for its author.
pub(super) fn denied(name: &HeaderName, destination: &Destination) -> Option<String> {
    let name = name.as_str();
    if RANGES.contains(&name) && carry_secrets(destination) {
        return Some(format!(
            "the header {name} cannot be set: requests to this destination carry secrets, and in a part of \
             an answer no secret can be masked that is cut in two"
        ));
    }
    let is_configured =
        destination.key_header.as_deref() == Some(name) || destination.headers.contains_key(name);
    let configured = || format!("the header {name} cannot be set: the operator sets it for this destination");
    reserved(name).or_else(|| is_configured.then(configured))
}

/// Why nobody but the host may set the header `name` (in lower case): neither a handler
/// nor, in a configuration, the operator.
pub fn reserved(name: &str) -> Option<String> {
    // To many a server the two are one: its variables have no `-`.
    let meant = name.replace('_', "-");
    let reason = if meant.starts_with("x-tether-") {
        "the host sets it"
    } else if matches!(&*meant, "host" | "content-length" | "expect") || is_hop_by_hop(&meant) {
        "it belongs to the connection, which the host makes"
    } else if METHOD_OVERRIDES.contains(&&*meant) {
        "it makes one method of another; send the method itself"
    } else {
        return None;
    };
    Some(format!("the header {name} cannot be set: {reason}"))
}

fn is_hop_by_hop(name: &str) -> bool {
    HOP_BY_HOP.contains(&name) || name.starts_with("proxy-")
}

/// Takes out what the host says itself: a length that is right is no harm, and common
/// libraries always give one.
pub(super) fn take_length(headers: &mut HeaderMap, body: usize) -> Result<(), String> {
    match headers.remove(CONTENT_LENGTH) {
        Some(length) if length.as_bytes() != body.to_string().as_bytes() => {
            Err(format!("the header content-length is not the body's {body} bytes; leave it out"))
        }
        _ => Ok(()),
    }
}

/// Takes the body's own headers out, where the body is.
pub(super) fn drop_body(headers: &mut HeaderMap) {
    keep(headers, |name| !name.as_str().starts_with("content-"));
}

/// Leaves what may go to another origin.
pub(super) fn keep_crossing(headers: &mut HeaderMap) {
    keep(headers, |name| CROSSING.contains(name));
}

fn keep(headers: &mut HeaderMap, kept: impl Fn(&HeaderName) -> bool) {
    let dropped: Vec<_> = headers.keys().filter(|name| !kept(name)).cloned().collect();
    for name in dropped {
        headers.remove(name);
    }
}

/// Leaves of an answer's headers what concerns the answer.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<_> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    keep(headers, |name| !is_hop_by_hop(name.as_str()) && !named.contains(name));
}

/// Whether a body of an answer with these headers is as it was meant to be read:
/// nobody compressed it.
pub(super) fn is_plain(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all(CONTENT_ENCODING).iter().chain(headers.get_all(TRANSFER_ENCODING));
    let plain = |encoding: &str| {
        ["", "identity", "chunked"].iter().any(|plain| encoding.trim().eq_ignore_ascii_case(plain))
    };
    encodings.into_iter().all(|value| value.to_str().is_ok_and(|value| value.split(',').all(plain)))
}

/// Puts the length of a body that was changed on the way.
pub(super) fn put_length(headers: &mut HeaderMap, body: usize) {
    if headers.contains_key(CONTENT_LENGTH) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, reason: Option<&str>) {
        let destination: Destination =
            "https://a.test\tPOST\t\t\tidempotency-key\tauthorization: Bearer ${T}".parse().unwrap();
        let denied = denied(&name.parse().unwrap(), &destination);
        match reason {
            Some(reason) => assert!(denied.is_some_and(|text| text.contains(reason)), "{name}"),
            None => assert_eq!(denied, None, "{name}"),
        }
    }

    #[test]
    fn a_handler_sets_no_header_of_the_host_or_of_the_operator() {
        for name in ["X-Tether-Idempotency-Key", "x-tether-anything", "X_Tether_Idempotency_Key"] {
            check(name, Some("the host sets it"));
        }
        for name in ["Host", "Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE"] {
            check(name, Some("belongs to the connection"));
        }
        for name in ["Trailer", "Transfer-Encoding", "Upgrade", "HTTP2-Settings"] {
            check(name, Some("belongs to the connection"));
        }
        for name in ["X-HTTP-Method-Override", "X_HTTP_METHOD_OVERRIDE", "X-HTTP-Method", "X-Method-Override"]
        {
            check(name, Some("send the method itself"));
        }
        for name in ["Authorization", "Idempotency-Key"] {
            check(name, Some("the operator sets it"));
        }
        for name in ["Content-Type", "Accept", "Cookie", "X-Api-Key", "User-Agent"] {
            check(name, None);
        }
    }

    #[test]
    fn a_length_is_left_out_or_right() {
        let with =
            |length: &'static str| HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static(length))]);
        assert_eq!(take_length(&mut with("3"), 3), Ok(()));
        assert_eq!(take_length(&mut HeaderMap::new(), 3), Ok(()));
        assert!(take_length(&mut with("4"), 3).is_err());
        assert!(take_length(&mut with("+3"), 3).is_err());
    }

    #[test]
    fn headers_of_the_connection_are_not_handed_on() {
        let pairs = [("connection", "close, x-hop"), ("x-hop", "1"), ("keep-alive", "5"), ("x-kept", "1")];
        let mut headers: HeaderMap = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        drop_hop_by_hop(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["x-kept"]);
    }
}
