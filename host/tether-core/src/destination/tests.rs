use super::*;

#[track_caller]
fn check(pattern: &str, origin: (&str, &str, u16), expected: bool) {
    let pattern: OriginPattern = pattern.parse().unwrap();
    assert_eq!(pattern.matches(origin.0, origin.1, origin.2), expected, "{pattern} and {origin:?}");
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    check("https://api.example.com", ("https", "api.example.com", 443), true);
    check("https://API.example.com:443", ("https", "api.example.com", 443), true);
    check("https://api.example.com", ("http", "api.example.com", 443), false);
    check("https://api.example.com", ("https", "api.example.com", 8443), false);
    check("https://api.example.com", ("https", "api.example.com.evil.test", 443), false);
    check("http://[::1]:80", ("http", "[::1]", 80), true);
    check("http://127.0.0.1:8080", ("http", "127.0.0.1", 8080), true);
}

#[test]
fn a_wildcard_stands_for_one_label_or_more() {
    check("https://*.example.com", ("https", "a.example.com", 443), true);
    check("https://*.example.com", ("https", "a.b.example.com", 443), true);
    check("https://*.example.com", ("https", "example.com", 443), false);
    check("https://*.example.com", ("https", ".example.com", 443), false);
    check("https://*.example.com", ("https", "evilexample.com", 443), false);
}

#[test]
fn what_is_no_origin_is_refused() {
    for text in [
        "",
        "example.com",
        "ftp://example.com",
        "https://",
        "https://*",
        "https://*.*.com",
        "https://a*.example.com",
        "https://example.com/",
        "https://example.com/path",
        "https://u@example.com",
        "https://example.com:0",
        "https://example.com:65536",
        "https://example.com:+80",
        "https://example.com:",
        "https://exämple.com",
        "https://a..b",
        "https://0x7f.1",
        "https://127.1",
        "https://::1",
        "https://[::1",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:7f00:1]",
        "https://example.com?x",
        "https://a b.com",
        "https://a\t.com",
    ] {
        assert!(text.parse::<OriginPattern>().is_err(), "{text:?}");
    }
}

#[test]
fn a_read_sends_what_is_safe_and_what_it_was_granted() {
    let destination: Destination = "https://a.test\tDELETE,GET,POST\tPOST\t\t".parse().unwrap();
    let lets = |method: &str, reading| destination.lets(&method.parse().unwrap(), reading);
    assert!(lets("GET", true) && lets("POST", true) && !lets("DELETE", true) && !lets("HEAD", true));
    assert!(lets("GET", false) && lets("DELETE", false) && !lets("PUT", false));
    assert!("TRACE".parse::<Method>().is_err() && "get".parse::<Method>().is_err());
}

#[test]
fn an_address_that_is_not_public_takes_a_grant() {
    let at = |destination: &str, address: &str| {
        destination.parse::<Destination>().unwrap().may_be_at(address.parse().unwrap())
    };
    assert!(at("http://10.1.2.3\tGET\t\t\t", "10.1.2.3"));
    assert!(!at("http://10.1.2.3\tGET\t\t\t", "10.1.2.4"));
    assert!(at("http://internal.test\tGET\t\t10.0.0.0/8\t", "10.1.2.4"));
    assert!(!at("http://internal.test\tGET\t\t10.0.0.0/8\t", "192.168.0.1"));
}

#[test]
fn a_destination_survives_its_text() {
    let text = "https://*.example.com:8443\tGET,POST\tQUERY\t10.0.0.0/8,fd00::/8\tidempotency-key\
                \tauthorization: Bearer ${TOKEN}\tx-a: b: c";
    assert_eq!(text.parse::<Destination>().unwrap().to_string(), text);
    let bare = "http://localhost:1\t\t\t\t";
    assert_eq!(bare.parse::<Destination>().unwrap().to_string(), bare);
}
