//! `[[components.outbound]]`, its secrets, and `extra_roots`.

use axum::body::Bytes;

use super::*;

/// A component with one destination of these keys.
fn destination(keys: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    let text = format!("[[components]]\npath = \"a.wasm\"\n[[components.outbound]]\n{keys}");
    load_file("tether.toml", &text, environment)
}

/// The destination as it is stored.
fn stored(config: &Config) -> String {
    config.components[0].grants.destinations[0].to_string()
}

const TOKEN: (&str, &str) = ("EXAMPLE_TOKEN", "s3cret-canary");

#[test]
fn a_destination_is_read_whole() {
    let keys = r#"
        origin = "https://API.example.com"
        methods = ["GET", "POST"]
        read_methods = ["QUERY"]
        headers = { Authorization = "Bearer ${EXAMPLE_TOKEN}", X-Plain = "a, b" }
        key_header = "Idempotency-Key"
        addresses = ["10.0.0.0/8", "192.168.1.7"]
    "#;
    let config = destination(keys, &[TOKEN]).unwrap();
    assert_eq!(
        stored(&config),
        "https://api.example.com\tGET,POST\tQUERY\t10.0.0.0/8,192.168.1.7/32\tidempotency-key\
         \tauthorization: Bearer ${EXAMPLE_TOKEN}\tx-plain: a, b"
    );
    // The database of its own is not lost to it.
    assert!(config.components[0].grants.to_string().starts_with("database main sqlite\n"));
    // What is granted can be stored and read back.
    let grants = config.components[0].grants.clone();
    assert_eq!(grants.to_string().parse::<Grants>().unwrap(), grants);
}

#[test]
fn without_methods_only_safe_ones_are_granted() {
    let config = destination("origin = \"https://a.test\"", &[]).unwrap();
    assert_eq!(stored(&config), "https://a.test\tGET,HEAD,OPTIONS\t\t\t");
    let config = destination("origin = \"https://a.test\"\nmethods = []", &[]).unwrap();
    assert_eq!(stored(&config), "https://a.test\t\t\t\t");
}

#[test]
fn json_has_the_same_keys() {
    let text = r#"{"Components": [{"Path": "a.wasm", "Outbound": [
        {"Origin": "https://a.test", "ReadMethods": ["POST"], "Headers": {"X-Key": "$$5"}, "KeyHeader": "X-Id"}]}]}"#;
    let config = load_file("tether.json", text, &[]).unwrap();
    assert_eq!(stored(&config), "https://a.test\tGET,HEAD,OPTIONS\tPOST\t\tx-id\tx-key: ${$}5");
    assert_eq!(config.secrets.fill("${$}5").unwrap(), "$5");
}

#[test]
fn no_secret_is_in_what_is_stored_or_printed() {
    let config =
        destination("origin = \"https://a.test\"\nheaders = { X-Key = \"${EXAMPLE_TOKEN}\" }", &[TOKEN]);
    let config = config.unwrap();
    let printed = format!("{config:?}");
    assert!(!printed.contains("canary") && printed.contains("EXAMPLE_TOKEN"), "{printed}");
    assert!(!stored(&config).contains("canary"));
    assert_eq!(config.secrets.fill("Bearer ${EXAMPLE_TOKEN}").unwrap(), "Bearer s3cret-canary");
    let masked = config.secrets.mask(Bytes::from_static(b"it was s3cret-canary"));
    assert!(!String::from_utf8_lossy(&masked).contains("canary"));
}

#[test]
fn a_secret_of_a_file_loses_the_end_of_its_line() {
    let text = "[[components]]\npath = \"a.wasm\"\n[[components.outbound]]\norigin = \"https://a.test\"\n\
                headers = { X-Key = \"${file:token}\" }";
    for content in ["s3cret", "s3cret\n", "s3cret\r\n"] {
        let config = load(&[("tether.toml", text), ("token", content)], &[]).unwrap();
        assert_eq!(config.secrets.fill("${file:token}").unwrap(), "s3cret", "{content:?}");
    }
    let check = |content: &str, parts: &[&str]| {
        wrong(load(&[("tether.toml", text), ("token", content)], &[]), parts);
    };
    check("", &["`components[0].outbound[0].headers.X-Key`", "${file:token}", "is empty"]);
    check("a\nb\n", &["${file:token}", "in one line"]);
    check(&"x".repeat(8193), &["`components[0].outbound[0].headers.X-Key`", "at most 8192 bytes"]);
    wrong(load(&[("tether.toml", text)], &[]), &["headers.X-Key`", "${file:token}", "cannot be read"]);
}

#[test]
fn a_header_that_cannot_be_is_named_with_its_place_and_without_its_value() {
    let check = |headers: &str, parts: &[&str]| {
        let keys = format!("origin = \"https://a.test\"\nheaders = {headers}");
        let environment = [TOKEN, ("EMPTY", ""), ("LINES", "canary\ncanary")];
        let error = destination(&keys, &environment).expect_err(headers);
        for part in parts.iter().chain(&["tether.toml: `components[0].outbound[0].headers"]) {
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
        assert!(!error.contains("canary"), "{error}");
    };
    check("{ X-Key = \"${NOT_SET}\" }", &["headers.X-Key`", "NOT_SET is not set"]);
    check("{ X-Key = \"${EMPTY}\" }", &["${EMPTY}", "is empty"]);
    check("{ X-Key = \"${LINES}\" }", &["${LINES}", "in one line"]);
    check("{ X-Key = \"canary ${}\" }", &["names no environment variable"]);
    check("{ X-Key = \"canary ${a b}\" }", &["names no environment variable"]);
    check("{ X-Key = \"canary ${EXAMPLE_TOKEN\" }", &["write `$$`"]);
    check("{ X-Key = \"canary $5\" }", &["write `$$`"]);
    check("{ X-Key = \"canary\\tcanary\" }", &["printable ASCII"]);
    check("{ X-Key = \"canary\\n\" }", &["printable ASCII"]);
    check("{ X-Key = \"canäry\" }", &["printable ASCII"]);
    check("{ X-Key = \" canary\" }", &["without spaces around it"]);
    check(&format!("{{ X-Key = \"{}\" }}", "canary".repeat(2000)), &["at most 8192 bytes"]);
    check("{ X-Key = 5 }", &["must be a text"]);
    check("{ \"X Key\" = \"canary\" }", &["\"X Key\" cannot be the name of a header"]);
    check("{ X-Key = \"canary\", x-key = \"b\" }", &["written twice"]);
    for name in
        ["Host", "Connection", "transfer-encoding", "Proxy-Authorization", "TE", "X-Tether-Idempotency-Key"]
    {
        check(&format!("{{ {name} = \"canary\" }}"), &["cannot be set"]);
    }
    check("\"canary\"", &["headers"]);
}

#[test]
fn what_is_no_destination_is_named_with_its_place() {
    let check = |keys: &str, parts: &[&str]| wrong(destination(keys, &[]), parts);
    let origin = "origin = \"https://a.test\"\n";
    check("", &["`components[0].outbound[0].origin` is missing"]);
    check("origin = \"https://a.test/path\"", &["`components[0].outbound[0].origin`", "is no origin"]);
    check("origin = \"ftp://a.test\"", &["https://", "http://"]);
    check(&format!("{origin}methods = \"GET\""), &["`components[0].outbound[0].methods`", "a list"]);
    check(&format!("{origin}methods = [\"get\"]"), &["`components[0].outbound[0].methods[0]`", "\"POST\""]);
    check(&format!("{origin}methods = [\"GET\", 5]"), &["methods[1]`", "must be a text"]);
    check(&format!("{origin}read_methods = [\"TRACE\"]"), &["read_methods[0]`", "never sent"]);
    check(&format!("{origin}addresses = [\"10.0.0.0/33\"]"), &["addresses[0]`", "\"10.0.0.0/8\""]);
    check(&format!("{origin}addresses = [\"::ffff:10.0.0.0/104\"]"), &["addresses[0]`", "\"10.0.0.0/8\""]);
    check(&format!("{origin}addresses = [\"::ffff:10.1.2.3\"]"), &["written as one: \"10.1.2.3\""]);
    check(&format!("{origin}addresses = [\"::ffff:0.0.0.0/8\"]"), &["networks of IPv4 and of IPv6"]);
    check(&format!("{origin}adresses = []"), &["`components[0].outbound[0].adresses`", "`addresses`?"]);
    check(&format!("{origin}key_header = \"Host\""), &["outbound[0].key_header`", "cannot be set"]);
    check(
        &format!("{origin}headers = {{ X-Id = \"a\" }}\nkey_header = \"x-id\""),
        &["outbound[0].key_header`", "among `headers`"],
    );
    wrong(
        toml("[[components]]\npath = \"a\"\n[components.outbound]\norigin = \"https://a.test\""),
        &["`components[0].outbound`", "[[components.outbound]]"],
    );
}

#[test]
fn what_leaves_has_limits() {
    let limits = toml("").unwrap().limits;
    assert_eq!((limits.request_bytes, limits.answer_bytes, limits.requests), (8 << 20, 8 << 20, 100));
    let limits =
        toml("[limits]\nrequest_bytes = 1024\nanswer_bytes = \"64MiB\"\nrequests = 1").unwrap().limits;
    assert_eq!((limits.request_bytes, limits.answer_bytes, limits.requests), (1024, 64 << 20, 1));
    wrong(toml("[limits]\nrequests = 0"), &["`limits.requests`", "from 1 to 1000"]);
    // More than this a handler cannot hand over at once.
    wrong(toml("[limits]\nrequest_bytes = \"17MiB\""), &["`limits.request_bytes`"]);
    wrong(toml("[limits]\nanswer_bytes = \"65MiB\""), &["`limits.answer_bytes`"]);
}

#[test]
fn extra_roots_are_read_at_the_start() {
    let text = "[tool_transport]\nextra_roots = \"ca.pem\"";
    let pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    let config = load(&[("tether.toml", text), ("ca.pem", pem)], &[]).unwrap();
    assert_eq!(config.extra_roots, pem.as_bytes());
    wrong(toml(text), &["`tool_transport.extra_roots`", "ca.pem cannot be read"]);
    let none = load(&[("tether.toml", text), ("ca.pem", "x")], &[]);
    wrong(none, &["`tool_transport.extra_roots`", "holds no certificate"]);
    assert!(toml("").unwrap().extra_roots.is_empty());
}
