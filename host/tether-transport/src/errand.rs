//! Requests of the host itself: the keys of an identity provider, a notice to a webhook.
//!
//! They are no part of anybody's call, so no allowance repeats them and no journal notes
//! them: each is sent once, and whoever sends it decides what comes next. They leave by
//! the same way as those of handlers: addresses that were vetted, no redirect, no proxy,
//! no cookie.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use reqwest::Url;
use tether_core::destination::{Destination, InvalidDestination};
use tether_core::id::RequestId;

use crate::outbound::check::{origin, parse_url};
use crate::outbound::lane::Lane;
use crate::outbound::parcel::{Cap, Cut, Parcel};
use crate::outbound::passage::Passage;
use crate::outbound::repeat::too_late;
use crate::outbound::{Outbound, Response, SendError, address, headers};

/// Of the answer to a POST so many bytes are read. Only its status counts, and a short
/// answer that was read leaves its connection to the next request.
const MOST_OF_AN_ANSWER: usize = 64 << 10;

/// Where an errand may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The operator named the place: it may be at any address.
    Operators,
    /// Somebody else named it: `https`, and public addresses only.
    Foreign,
}

/// Where errands go: a URL that was checked. It can hold a secret, and prints none of it.
#[derive(Clone)]
pub struct Address {
    url: Url,
    destination: Destination,
}

/// A URL to which nothing can be sent. The text says why, and not which.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidErrand(String);

/// Requests to one URL, cheap to clone. They share connections with nobody.
#[derive(Clone)]
pub struct Errands {
    outbound: Outbound,
    lane: Arc<Lane>,
    url: Url,
}

impl Address {
    /// `url`, absolute, `http` or `https`, without a user, up to 8 KiB; its fragment is
    /// left out.
    pub fn parse(url: &str, reach: Reach) -> Result<Self, InvalidErrand> {
        let url = parse_url(url).map_err(|error| InvalidErrand(error.to_string()))?;
        if reach == Reach::Foreign {
            allow_foreign(&url)?;
        }
        let networks: &[&str] = match reach {
            Reach::Operators => &["0.0.0.0/0", "::/0"],
            Reach::Foreign => &[],
        };
        let networks = networks.iter().map(|network| network.parse());
        let networks = networks.collect::<Result<_, InvalidDestination>>();
        let destination = Destination {
            // What is wrong with it would name it.
            origin: origin(&url).parse().map_err(|_| InvalidErrand("its host is none".to_owned()))?,
            methods: Default::default(),
            read_methods: Default::default(),
            networks: networks.map_err(|error| InvalidErrand(error.to_string()))?,
            key_header: None,
            headers: Default::default(),
        };
        Ok(Self { url, destination })
    }

    /// Scheme, host, and the port where it is not the scheme's own.
    pub fn origin(&self) -> String {
        origin(&self.url)
    }

    /// Its name or its address, an IPv6 one in brackets.
    pub fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    /// Whether what is sent there can be read on the way: it is `http`, to another
    /// machine.
    pub fn is_in_the_clear(&self) -> bool {
        let is_local = match host_address(&self.url) {
            Some(address) => address.is_loopback(),
            None => matches!(self.url.host_str(), Some("localhost")),
        };
        self.url.scheme() == "http" && !is_local
    }
}

/// A name is vetted as it is looked up; an address that stands in the URL is not looked
/// up.
fn allow_foreign(url: &Url) -> Result<(), InvalidErrand> {
    if url.scheme() != "https" {
        return Err(InvalidErrand("it is not https, and the operator did not name it".to_owned()));
    }
    match host_address(url) {
        Some(address) if !address::is_public(address) => {
            Err(InvalidErrand("its address is not public, and the operator did not name it".to_owned()))
        }
        _ => Ok(()),
    }
}

fn host_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

impl Outbound {
    /// Requests to `url`.
    pub fn errands(&self, url: &str, reach: Reach) -> Result<Errands, InvalidErrand> {
        Ok(self.errands_to(Address::parse(url, reach)?))
    }

    /// Requests to `address`.
    pub fn errands_to(&self, address: Address) -> Errands {
        let Address { url, destination } = address;
        Errands { outbound: self.clone(), lane: Arc::new(Lane::new(destination)), url }
    }
}

impl Errands {
    /// Asks for JSON, once, for up to `time`. An answer that is a success and longer than
    /// `most` bytes is an error; of any other the beginning is told.
    pub async fn get(&self, time: Duration, most: usize) -> Result<Response, SendError> {
        let accept = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let cap = Cap { bytes: most, cut: Cut::Failures };
        self.send("GET", accept, Vec::new(), cap, time).await
    }

    /// Sends `body`, which is JSON, with these headers besides, once, and waits up to
    /// `time`. By `key` the peer recognises what was sent before. Of a long answer the
    /// beginning is told.
    pub async fn post(
        &self,
        key: RequestId,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
        time: Duration,
    ) -> Result<Response, SendError> {
        let key = key.to_string();
        let own = [(headers::KEY, key.as_str()), (CONTENT_TYPE, "application/json")];
        let given = headers.iter().map(|(name, value)| (HeaderName::from_static(name), *value));
        let mut all = HeaderMap::new();
        for (name, value) in given.chain(own) {
            let value = HeaderValue::try_from(value)
                .map_err(|_| SendError::Refused(format!("the header {name} cannot hold its value")))?;
            all.insert(name, value);
        }
        let cap = Cap { bytes: MOST_OF_AN_ANSWER, cut: Cut::Everything };
        self.send("POST", all, body, cap, time).await
    }

    async fn send(
        &self,
        method: &str,
        headers: HeaderMap,
        body: Vec<u8>,
        cap: Cap,
        time: Duration,
    ) -> Result<Response, SendError> {
        let method = method.parse().map_err(|error| SendError::Refused(format!("{error}")))?;
        let (url, body) = (self.url.clone(), body.into());
        let parcel = Parcel { method, url, headers, body, has_secrets: false };
        let (origin, passage) = (parcel.origin(), Arc::<Passage>::default());
        let exchange = self.outbound.read(&self.lane, parcel, cap, passage.clone());
        match tokio::time::timeout(time, exchange).await {
            Ok(answered) => answered,
            Err(_) => Err(too_late(&origin, &passage, time)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}

impl fmt::Debug for Errands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errands").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, reach: Reach, says: Option<&str>) {
        match (Address::parse(url, reach), says) {
            (Ok(_), None) => {}
            (Err(error), Some(says)) => assert!(error.to_string().contains(says), "{url}: {error}"),
            (parsed, _) => panic!("{url}: {parsed:?}"),
        }
    }

    #[test]
    fn the_operator_may_name_any_place() {
        for url in ["http://127.0.0.1:8080/hook?token=a#b", "https://hooks.internal/", "http://[::1]"] {
            check(url, Reach::Operators, None);
        }
        check("ftp://a.test", Reach::Operators, Some("http or https"));
        check("https://u:p@a.test", Reach::Operators, Some("names a user"));
        check("hooks", Reach::Operators, Some("is none"));
    }

    #[test]
    fn what_somebody_else_named_is_public_and_over_tls() {
        check("https://keys.test/jwks.json", Reach::Foreign, None);
        check("https://8.8.8.8/", Reach::Foreign, None);
        check("http://keys.test/jwks.json", Reach::Foreign, Some("not https"));
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "2130706433",
            "10.0.0.1",
            "169.254.169.254",
            "[::1]",
            "[fd00::1]",
        ] {
            check(&format!("https://{host}/"), Reach::Foreign, Some("not public"));
        }
        check("https://[::ffff:127.0.0.1]/", Reach::Foreign, Some("not public"));
    }

    #[test]
    fn only_plain_http_to_another_machine_is_in_the_clear() {
        let is = |url: &str| Address::parse(url, Reach::Operators).unwrap().is_in_the_clear();
        assert!(is("http://a.test/") && is("http://10.0.0.1/") && is("http://[fd00::1]/"));
        assert!(!is("https://a.test/") && !is("http://localhost:1/") && !is("http://127.0.0.2/"));
        assert!(!is("http://[::1]:1/"));
    }

    #[test]
    fn nothing_of_an_address_is_printed() {
        let address = Address::parse("https://s3cr3t.test/s3cr3t?s3cr3t", Reach::Operators).unwrap();
        assert!(!format!("{address:?}").contains("s3cr3t"));
        for url in ["https://s3cr3t:80:80/", "s3cr3t://a", "https://u:s3cr3t@a.test", "https://s3cr3t..a/"] {
            let error = Address::parse(url, Reach::Operators).unwrap_err().to_string();
            assert!(!error.contains("s3cr3t") || error.contains("scheme is \"s3cr3t\""), "{error}");
        }
    }
}
