//! From where a request comes.

use std::net::IpAddr;

use axum::http::HeaderMap;
use tether_core::destination::Network;

/// Proxies that say, in `X-Forwarded-For`, whom they speak for, and are believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Network>);

impl Proxies {
    /// Those within these networks.
    pub fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    fn are_trusted(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.holds(address))
    }

    /// The nearest address that is none of these proxies: every trusted one vouches for
    /// the entry that it added at the end, and whatever stands before that anybody may
    /// have written.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut nearest = peer.to_canonical();
        let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let entries: Vec<_> = values.flat_map(|value| value.split(',')).collect();
        for entry in entries.into_iter().rev() {
            if !self.are_trusted(nearest) {
                break;
            }
            match entry.trim().parse::<IpAddr>() {
                Ok(address) => nearest = address.to_canonical(),
                Err(_) => break,
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&'static str], client: &str) {
        let proxies = Proxies::new(vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        let headers = forwarded.iter().map(|value| ("x-forwarded-for", HeaderValue::from_static(value)));
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value)).collect::<Vec<_>>();
        let mut map = HeaderMap::new();
        headers.into_iter().for_each(|(name, value): (axum::http::HeaderName, _)| {
            map.append(name, value);
        });
        assert_eq!(proxies.client(peer.parse().unwrap(), &map), client.parse::<IpAddr>().unwrap());
    }

    #[test]
    fn only_a_trusted_proxy_says_whom_it_speaks_for() {
        check("192.0.2.1", &[], "192.0.2.1");
        check("192.0.2.1", &["198.51.100.1"], "192.0.2.1");
        check("10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("::ffff:10.0.0.1", &["198.51.100.1"], "198.51.100.1");
        check("fd00::1", &["2001:db8::1"], "2001:db8::1");
        // What stood there before the proxy's own entry may be anybody's words.
        check("10.0.0.1", &["203.0.113.9, 198.51.100.1"], "198.51.100.1");
        check("10.0.0.1", &["203.0.113.9", "198.51.100.1"], "198.51.100.1");
        // A row of proxies.
        check("10.0.0.1", &["198.51.100.1, 10.0.0.2"], "198.51.100.1");
        check("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3");
        // What cannot be read leads no further.
        check("10.0.0.1", &["198.51.100.1, unknown"], "10.0.0.1");
        check("10.0.0.1", &[], "10.0.0.1");
    }
}
