//! What of a request is decided before anything happens: pure.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use reqwest::Url;
use tether_core::destination::{Destination, Method};

use super::lane::Lane;
use super::{Request, SendError, Settings, address, headers};

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
        return Err(denied(format!(
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
pub(super) fn parse_url(text: &str) -> Result<Url, SendError> {
    if text.len() > LONGEST_URL {
        return Err(denied(format!("the URL is over {LONGEST_URL} bytes")));
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

/// The first destination that is there and lets the method through; then its address,
/// where the URL names one, takes its grant.
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
    match host_address(url) {
        Some(address) if !address::is_allowed(&lane.destination, address) => Err(denied(format!(
            "{} is no public address; the operator can grant it by naming the address",
            origin(url)
        ))),
        _ => Ok(lane),
    }
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

/// The address that the URL names in place of a name. In their normal form URLs spell
/// an address in one way only.
fn host_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

/// Scheme, host, and the port where it is not the scheme's own.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

pub(super) fn denied(reason: impl Into<String>) -> SendError {
    SendError::Denied(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(destinations: &[&str]) -> Vec<Arc<Lane>> {
        destinations.iter().map(|text| Arc::new(Lane::new(text.parse().unwrap()))).collect()
    }

    fn choice(destinations: &[&str], method: &str, url: &str, reading: bool) -> Result<usize, String> {
        let lanes = lanes(destinations);
        let url = parse_url(url).map_err(|error| error.to_string())?;
        let method = method.parse().unwrap();
        let lane = choose(&lanes, &method, &url, reading).map_err(|error| error.to_string())?;
        Ok(lanes.iter().position(|other| Arc::ptr_eq(other, lane)).unwrap())
    }

    #[track_caller]
    fn check_denied(destinations: &[&str], method: &str, url: &str, reading: bool, says: &str) {
        let denied = choice(destinations, method, url, reading).unwrap_err();
        assert!(denied.contains(says), "{denied}");
        assert!(!denied.contains("secret"), "{denied}");
    }

    #[test]
    fn the_first_destination_that_is_there_and_lets_the_method_counts() {
        let both = ["https://a.test\tGET\t\t\t", "https://*.test\tPOST\tQUERY\t\t"];
        assert_eq!(choice(&both, "GET", "https://A.test:443/x?q#f", true), Ok(0));
        assert_eq!(choice(&both, "POST", "https://a.test/", false), Ok(1));
        assert_eq!(choice(&both, "QUERY", "https://a.test/", true), Ok(1));
    }

    #[test]
    fn a_denial_says_what_to_do_and_shows_no_query() {
        let grant = ["https://a.test\tGET,POST\t\t\t"];
        check_denied(
            &grant,
            "GET",
            "https://b.test/?secret",
            true,
            "can add it to the component's destinations",
        );
        check_denied(&grant, "GET", "http://a.test/?secret", true, "http://a.test is not granted");
        check_denied(
            &grant,
            "GET",
            "https://a.test:8443/?secret",
            true,
            "https://a.test:8443 is not granted",
        );
        check_denied(&grant, "GET", "https://a.test./?secret", true, "not granted");
        check_denied(&grant, "PUT", "https://a.test/?secret", false, "the destination's methods");
        check_denied(&grant, "POST", "https://a.test/?secret", true, "read_methods");
    }

    #[test]
    fn what_is_no_address_of_the_web_is_denied() {
        for url in
            ["", "a.test", "/x", "ftp://a.test/", "file:///etc/passwd", "data:,x", "http://", "http://a b/"]
        {
            assert!(parse_url(url).is_err(), "{url:?}");
        }
        for url in ["https://u@a.test/", "https://u:p@a.test/", "https://:p@a.test/"] {
            assert!(parse_url(url).unwrap_err().to_string().contains("names a user"), "{url:?}");
        }
        assert!(parse_url(&format!("https://a.test/{}", "x".repeat(8 * 1024))).is_err());
    }

    #[test]
    fn an_address_is_refused_in_every_spelling() {
        let grant = ["http://127.0.0.2\tGET\t\t\t", "http://*.test\tGET\t\t\t"];
        assert_eq!(choice(&grant, "GET", "http://127.0.0.2/", true), Ok(0));
        assert_eq!(
            choice(&grant, "GET", "http://0x7f000002/", true),
            Ok(0),
            "another spelling of what is granted"
        );
        for host in [
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "017700000001",
            "127.1",
            "0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "①②⑦.0.0.1",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "localhost",
            "127.0.0.1.",
        ] {
            let url = format!("http://{host}/");
            assert!(choice(&grant, "GET", &url, true).is_err(), "{host}");
        }
        // A scoped address is no URL.
        assert!(parse_url("http://[fe80::1%25eth0]/").is_err());
    }

    #[test]
    fn a_granted_origin_at_a_mapped_address_still_takes_the_address() {
        let grant = ["http://[::ffff:7f00:1]\tGET\t\t\t"];
        assert!(choice(&grant, "GET", "http://[::ffff:127.0.0.1]/", true).is_err());
    }

    /// No text, however odd, is sent with a user, a fragment, or another scheme; and
    /// what came out is its own normal form.
    #[test]
    fn odd_urls_come_out_plain_or_not_at_all() {
        const PARTS: [&str; 24] = [
            "http",
            "https",
            "HTTP",
            ":",
            "/",
            "//",
            "\\",
            "@",
            "#",
            "?",
            "[",
            "]",
            "::1",
            "127.0.0.1",
            "0x7f",
            ".",
            "a.test",
            "%2f",
            "\t",
            "\n",
            "ß",
            "\u{202e}",
            "user",
            " ",
        ];
        let mut random = crate::random::Random(7);
        let mut taken = 0;
        for _ in 0..200_000 {
            let text: String = (0..1 + random.below(9)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            let text = if random.below(2) == 0 { format!("http://{text}") } else { text };
            let Ok(url) = parse_url(&text) else { continue };
            taken += 1;
            assert!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{text:?}");
            assert!(
                url.username().is_empty() && url.password().is_none() && url.fragment().is_none(),
                "{text:?}"
            );
            assert_eq!(parse_url(url.as_str()).unwrap(), url, "{text:?}");
            if let Some(IpAddr::V4(address)) = host_address(&url) {
                assert_eq!(url.host_str(), Some(address.to_string().as_str()), "{text:?}");
            }
        }
        assert!(taken > 10_000, "{taken} of 200,000 texts were URLs");
    }
}
