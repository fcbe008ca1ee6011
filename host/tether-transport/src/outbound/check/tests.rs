//! What is denied, and in which words.

use tether_core::destination::OriginPattern;

use super::*;
use crate::random::Random;

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
    check_denied(&grant, "GET", "https://b.test/?secret", true, "can add it to the component's destinations");
    check_denied(&grant, "GET", "http://a.test/?secret", true, "http://a.test is not granted");
    check_denied(&grant, "GET", "https://a.test:8443/?secret", true, "https://a.test:8443 is not granted");
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
fn a_grant_of_an_address_is_none_of_its_mapped_spelling() {
    let grant = ["http://127.0.0.1\tGET\t\t\t"];
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
    let mut random = Random(7);
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
        let host = url.host_str().unwrap();
        if let Ok(address) = host.parse::<std::net::Ipv4Addr>() {
            assert_eq!(host, address.to_string(), "{text:?}");
        }
    }
    assert!(taken > 10_000, "{taken} of 200,000 texts were URLs");
}

/// Every origin that can be granted is one that a URL can have: it comes back from its
/// text, and matches its own URL but none with another scheme, host or port.
#[test]
fn odd_origins_are_granted_plainly_or_not_at_all() {
    const PARTS: [&str; 22] = [
        "a",
        "B",
        "example",
        ".",
        "*.",
        "*",
        "-",
        "_",
        ":",
        "80",
        "443",
        "0",
        "[::1]",
        "[",
        "]",
        "127.0.0.1",
        "10",
        "/",
        "@",
        "?",
        "xn--bcher-kva",
        "test",
    ];
    let mut random = Random(11);
    let mut granted = 0;
    for _ in 0..200_000 {
        let rest: String = (0..1 + random.below(6)).map(|_| PARTS[random.below(PARTS.len())]).collect();
        let text = format!("{}{rest}", ["http://", "https://"][random.below(2)]);
        let Ok(pattern) = text.parse::<OriginPattern>() else { continue };
        granted += 1;
        let shown = pattern.to_string();
        assert_eq!(shown.parse::<OriginPattern>().as_ref(), Ok(&pattern), "{text:?}");
        let Ok(url) = parse_url(&shown.replace("*.", "some.")) else { continue };
        let matches = |scheme: &str, host: &str, port| pattern.matches(scheme, host, port);
        let (host, port) = (url.host_str().unwrap(), url.port_or_known_default().unwrap());
        assert!(matches(url.scheme(), host, port), "{text:?}");
        assert!(!matches("ftp", host, port) && !matches(url.scheme(), host, port ^ 1), "{text:?}");
        assert!(!matches(url.scheme(), &format!("{host}.evil"), port), "{text:?}");
    }
    assert!(granted > 5_000, "{granted} of 200,000 texts were origins");
}
