//! Where the host is for browsers: what they call it, and which requests come from its own
//! pages.
//!
//! A cookie goes along with every request to this host, whoever's page sends it; and a
//! name of somebody else's can be made to lead here. So the name is checked, and for
//! whatever changes something, the origin of the page that sends it.

use std::net::SocketAddr;
use std::str::FromStr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::{Authority, Scheme, Uri};
use axum::http::{HeaderMap, HeaderName};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Where pages come from, such as `https://tether.example.com`: a scheme, a host, and the
/// port where it is not the scheme's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    https: bool,
    /// Lower case.
    authority: String,
}

impl Origin {
    /// Whether it is reached over TLS.
    pub fn is_https(&self) -> bool {
        self.https
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", if self.https { "https" } else { "http" }, self.authority)
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || "it must be the origin that browsers see, such as \"https://tether.example.com\"".to_owned();
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let https = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().ok_or_else(wrong)?.as_str().to_ascii_lowercase();
        if authority.contains('@') || uri.path() != "/" || uri.query().is_some() || text.contains('#') {
            return Err(wrong());
        }
        Ok(Self { https, authority: without_own_port(&authority, https).to_owned() })
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Place {
    url: Option<Origin>,
    beyond_loopback: bool,
}

impl Place {
    /// What is configured, and where the host listens.
    pub(crate) fn new(url: Option<Origin>, listen: SocketAddr) -> Self {
        Self { url, beyond_loopback: !listen.ip().is_loopback() }
    }

    /// Whether cookies are for TLS only. A proxy on the loopback interface is beyond it.
    pub(crate) fn is_secure(&self) -> bool {
        self.beyond_loopback || self.url.as_ref().is_some_and(Origin::is_https)
    }

    /// Whether the request is for this host by a name of its own.
    pub(crate) fn is_meant(&self, headers: &HeaderMap) -> bool {
        let Some(host) = one(headers, &HOST) else { return false };
        let host = host.to_ascii_lowercase();
        if let Some(url) = &self.url
            && without_own_port(&host, url.https) == url.authority
        {
            return true;
        }
        is_loopback(&host) || (self.url.is_none() && self.beyond_loopback)
    }

    /// Whether the request was sent by a page of the host itself. Browsers say so of
    /// every request that a form sends.
    pub(crate) fn is_own(&self, headers: &HeaderMap) -> bool {
        if headers.contains_key(ORIGIN) {
            return self.is_own_origin(headers);
        }
        one(headers, &SEC_FETCH_SITE) == Some("same-origin")
    }

    /// The host's own origin, as the request sees it.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> Option<String> {
        if let Some(url) = &self.url {
            return Some(url.to_string());
        }
        let host = one(headers, &HOST)?.to_ascii_lowercase();
        let host = without_own_port(&host, false);
        host.parse::<Authority>().is_ok().then(|| format!("http://{host}"))
    }

    /// Whether the request names one origin, and that is the host's own.
    pub(crate) fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let own = self.origin(headers);
        own.is_some() && one(headers, &ORIGIN) == own.as_deref()
    }
}

/// The value of a header that is there once.
pub(crate) fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

fn without_own_port(authority: &str, https: bool) -> &str {
    authority.strip_suffix(if https { ":443" } else { ":80" }).unwrap_or(authority)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "127.0.0.1" | "[::1]" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, listen: &str) -> Place {
        let url = (!url.is_empty()).then(|| url.parse().unwrap());
        Place::new(url, listen.parse().unwrap())
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn a_url_is_an_origin() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), expected);
        };
        check("https://Tether.Example.com", "https://tether.example.com");
        check("https://a.test:443/", "https://a.test");
        check("http://a.test:8080", "http://a.test:8080");
        for text in
            ["", "a.test", "ftp://a.test", "https://a.test/inbox", "https://u@a.test", "https://a.test/?q"]
        {
            assert!(text.parse::<Origin>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_of_others_lead_nowhere() {
        let meant = |place: &Place, host: &str| place.is_meant(&headers(&[("host", host)]));
        let alone = place("", "127.0.0.1:8484");
        for host in ["127.0.0.1:8484", "localhost:1", "LOCALHOST", "[::1]:8484"] {
            assert!(meant(&alone, host), "{host}");
        }
        for host in ["rebound.test", "rebound.test:8484", "127.0.0.1.rebound.test", "127.0.0.1:a", ""] {
            assert!(!meant(&alone, host), "{host}");
        }
        assert!(!alone.is_meant(&HeaderMap::new()));
        let named = place("https://a.test", "0.0.0.0:8484");
        assert!(meant(&named, "a.test") && meant(&named, "A.test:443") && meant(&named, "127.0.0.1:8484"));
        assert!(!meant(&named, "b.test") && !meant(&named, "a.test:8484"));
        assert!(meant(&place("", "0.0.0.0:8484"), "any.test"), "nobody said what it is called");
    }

    #[test]
    fn only_pages_of_its_own_change_anything() {
        let check = |place: &Place, pairs: &[(&'static str, &str)], own: bool| {
            let pairs: Vec<_> = pairs.iter().copied().chain([("host", "127.0.0.1:8484")]).collect();
            assert_eq!(place.is_own(&headers(&pairs)), own, "{pairs:?}");
        };
        let alone = place("", "127.0.0.1:8484");
        check(&alone, &[("origin", "http://127.0.0.1:8484")], true);
        check(&alone, &[("origin", "http://127.0.0.1:8485")], false);
        check(&alone, &[("origin", "https://127.0.0.1:8484")], false);
        check(&alone, &[("origin", "null")], false);
        check(&alone, &[("origin", "null"), ("sec-fetch-site", "same-origin")], false);
        check(&alone, &[("sec-fetch-site", "same-origin")], true);
        check(&alone, &[("sec-fetch-site", "same-site")], false);
        check(&alone, &[("sec-fetch-site", "none")], false);
        check(&alone, &[], false);
        let named = place("https://a.test", "127.0.0.1:8484");
        check(&named, &[("origin", "https://a.test")], true);
        check(&named, &[("origin", "http://a.test")], false);
        check(&named, &[("origin", "http://127.0.0.1:8484")], false);
    }

    #[test]
    fn cookies_are_for_tls_wherever_somebody_else_could_listen() {
        assert!(!place("", "127.0.0.1:1").is_secure() && !place("http://a.test", "127.0.0.1:1").is_secure());
        assert!(place("https://a.test", "127.0.0.1:1").is_secure() && place("", "0.0.0.0:1").is_secure());
    }
}
