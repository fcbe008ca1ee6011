//! Where components may send requests to.

use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv6Addr;
use std::path::PathBuf;

use tether_core::destination::{Destination, Method, Network, OriginPattern};

use super::ConfigError;
use super::header::{headers, key_header};
use super::secrets::Vault;
use super::section::{Section, Source};

/// What may be sent where the operator names no methods.
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// One of a component's `outbound`.
pub(super) fn destination(
    mut section: Section<'_>,
    vault: &mut Vault<'_>,
) -> Result<Destination, ConfigError> {
    let missing = section.place_of("origin");
    let origin =
        section.parsed("origin", |text| text.parse::<OriginPattern>().map_err(|error| error.to_string()))?;
    let methods = section.parsed_list("methods", str::parse::<Method>)?;
    let read_methods = section.parsed_list("read_methods", str::parse::<Method>)?;
    let networks = section.parsed_list("addresses", network)?;
    let headers = headers(&mut section, vault)?;
    let key_header = key_header(&mut section, &headers)?;
    section.finish()?;

    let origin = origin.ok_or_else(|| {
        ConfigError(format!(
            "{missing} is missing: where requests may go, such as \"https://api.example.com\""
        ))
    })?;
    Ok(Destination {
        origin,
        methods: methods.map_or_else(safe_methods, BTreeSet::from_iter),
        read_methods: read_methods.unwrap_or_default().into_iter().collect(),
        networks: networks.unwrap_or_default().into_iter().collect(),
        key_header,
        headers,
    })
}

/// Addresses. Those that are mapped from IPv4 are dialled as IPv4, and granted so.
fn network(text: &str) -> Result<Network, String> {
    let network = text.parse::<Network>().map_err(|error| error.to_string())?;
    let (address, prefix) = text.split_once('/').unwrap_or((text, "128"));
    let mapped = address.parse::<Ipv6Addr>().ok().and_then(|address| address.to_ipv4_mapped());
    let Some(address) = mapped else { return Ok(network) };
    Err(match prefix.parse().ok().and_then(|prefix: u8| prefix.checked_sub(96)) {
        Some(32) => format!("an IPv4 address is written as one: \"{address}\""),
        Some(prefix) => format!("a network of IPv4 is written as one: \"{address}/{prefix}\""),
        None => "it is more than the IPv4 addresses that IPv6 can hold; write networks of IPv4 and of IPv6"
            .to_owned(),
    })
}

fn safe_methods() -> BTreeSet<Method> {
    SAFE.iter().filter_map(|method| method.parse().ok()).collect()
}

/// The file of `extra_roots`. Relative, it starts at the configuration, or where
/// the environment names it, here.
pub(super) fn extra_roots(section: &mut Section<'_>, source: &Source) -> Result<Vec<u8>, ConfigError> {
    let from_environment = source.environment.contains_key("TETHER_TOOL_TRANSPORT__EXTRA_ROOTS");
    let roots = section.parsed("extra_roots", |text| {
        let path = if from_environment { PathBuf::from(text) } else { source.base.join(text) };
        let pem = fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let begins = b"-----BEGIN CERTIFICATE-----";
        if pem.windows(begins.len()).any(|part| part == begins) {
            Ok(pem)
        } else {
            Err(format!("{} holds no certificate; it must be PEM", path.display()))
        }
    })?;
    Ok(roots.unwrap_or_default())
}
