//! Which addresses anybody may be asked at, and which take a grant.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tether_core::destination::Destination;

/// IPv4 networks that are not global unicast (RFC 6890 and its registry), by their
/// first address and the length of their prefix.
const NOT_PUBLIC_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),        // this host
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared behind a carrier's NAT
    ([127, 0, 0, 0], 8),      // loopback
    ([168, 63, 129, 16], 32), // public by its number, and a cloud's own host to the machines in it
    ([169, 254, 0, 0], 16),   // link-local, and with it the metadata of clouds
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // of protocols
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // relays of 6to4
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, and broadcast
];

/// Whether a request to `destination` may be sent to `address`: it is public, or the
/// operator granted it.
pub(super) fn is_allowed(destination: &Destination, address: IpAddr) -> bool {
    let address = plain(address);
    is_public(address) || destination.may_be_at(address)
}

/// An IPv4 address that is mapped into IPv6 is that address: the system dials it so.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Whether `address` is global unicast.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |(network, prefix): &([u8; 4], u32)| {
        (address.to_bits() ^ u32::from_be_bytes(*network)) >> (32 - prefix) == 0
    };
    !NOT_PUBLIC_V4.iter().any(within)
}

/// Of IPv6 only 2000::/3 is given out. What tunnels to IPv4 is not public, whatever
/// it holds, but for the well-known prefix of NAT64: in a network that has IPv6 alone,
/// every public IPv4 address is reached through it.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    if address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        // The last 32 bits.
        return is_public_v4(Ipv4Addr::from_bits(address.to_bits() as u32));
    }
    let special = match (first, second) {
        // Of protocols: Teredo, benchmarks, ORCHID.
        (0x2001, 0..=0x1ff) => true,
        // Documentation.
        (0x2001, 0xdb8) | (0x3fff, 0..=0xfff) => true,
        // 6to4.
        (0x2002, _) => true,
        _ => false,
    };
    first & 0xe000 == 0x2000 && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(public: bool, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn what_anybody_may_be_asked_at() {
        check(
            true,
            &["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255"],
        );
        check(
            true,
            &["172.32.0.0", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "126.0.0.1"],
        );
        check(true, &["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "3ffe::1"]);
        check(true, &["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]);
    }

    #[test]
    fn loopback_private_and_local_addresses_are_not_public() {
        check(false, &["127.0.0.1", "127.255.255.255", "::1", "0.0.0.0", "0.1.2.3", "::"]);
        check(false, &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.1"]);
        check(false, &["169.254.0.1", "169.254.169.254", "100.64.0.0", "100.127.255.255", "168.63.129.16"]);
        check(false, &["fe80::1", "febf::1", "fec0::1", "feff::1", "fc00::1", "fd00:ec2::254", "fdff::1"]);
    }

    #[test]
    fn what_is_no_single_host_is_not_public() {
        check(false, &["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "ff02::1", "ff0e::1"]);
        check(false, &["192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1"]);
        check(false, &["198.18.0.0", "198.19.255.255", "192.88.99.1"]);
        check(false, &["2001:db8::1", "3fff::1", "3fff:fff::1", "100::1", "5f00::1", "4000::1"]);
    }

    #[test]
    fn an_ipv4_address_within_an_ipv6_one_is_looked_at() {
        check(false, &["::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:a00:1"]);
        check(false, &["::127.0.0.1", "::10.0.0.1", "::8.8.8.8"]);
        check(false, &["64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254"]);
        check(false, &["64:ff9b:1::8.8.8.8", "64:ff9b:1::10.0.0.1", "64:ff9b::1:8.8.8.8"]);
        check(false, &["2002:0a00:0001::1", "2002:7f00:1::1", "2002:808:808::1"]);
        check(false, &["2001::1", "2001:0:4136:e378:8000:63bf:f5ff:fffe", "2001:2::1", "2001:10::1"]);
    }

    #[test]
    fn what_is_not_public_takes_a_grant() {
        let at = |destination: &str, address: &str| {
            is_allowed(&destination.parse().unwrap(), address.parse().unwrap())
        };
        assert!(at("http://a.test\tGET\t\t\t", "8.8.8.8"));
        assert!(!at("http://a.test\tGET\t\t\t", "10.0.0.1"));
        assert!(at("http://a.test\tGET\t\t10.0.0.0/8\t", "10.0.0.1"));
        assert!(at("http://a.test\tGET\t\t10.0.0.0/8\t", "::ffff:10.0.0.1"));
        assert!(!at("http://a.test\tGET\t\t10.0.0.0/8\t", "64:ff9b::10.0.0.1"));
        assert!(at("http://[::1]\tGET\t\t\t", "::1"));
        assert!(!at("http://127.0.0.1\tGET\t\t\t", "127.0.0.2"));
    }
}
