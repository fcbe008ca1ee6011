//! `[[endpoints]]`. What a file of tools may hold is tested beside its reader.

use super::*;

const TOOLS: &str = r#"[{"name": "get_ticket", "effect": "read", "description": "A ticket.", "inputSchema": {"type": "object"}}]"#;

fn endpoints(text: &str) -> Result<Config, String> {
    load(&[("tether.toml", text), ("tools.json", TOOLS)], &[("TOKEN", "s3cret-canary")])
}

#[test]
fn an_endpoint_is_read_with_its_tools() {
    let config = endpoints(
        r#"
        [[endpoints]]
        url = "http://localhost:3000/tether"
        tools = "tools.json"
        headers = { Authorization = "Bearer ${TOKEN}" }
        key_header = "Idempotency-Key"
        "#,
    )
    .unwrap();
    let [endpoint] = &config.endpoints[..] else { panic!("one endpoint") };
    assert_eq!(endpoint.url, "http://localhost:3000/tether");
    assert_eq!(endpoint.tools[0].name.as_str(), "get_ticket");
    assert_eq!(endpoint.headers["authorization"], "Bearer ${TOKEN}");
    assert_eq!(endpoint.key_header.as_deref(), Some("idempotency-key"));
    assert_eq!(config.secrets.fill("${TOKEN}").unwrap(), "s3cret-canary");
    assert!(!format!("{config:?}").contains("canary"));
}

#[test]
fn what_is_no_endpoint_is_named_with_its_place() {
    let check = |keys: &str, parts: &[&str]| {
        let error = endpoints(&format!("[[endpoints]]\n{keys}")).expect_err(keys);
        for part in parts {
            assert!(error.contains(part), "{part:?} is missing in: {error}");
        }
        assert!(!error.contains("canary"), "{error}");
    };
    check("tools = \"tools.json\"", &["`endpoints[0].url` is missing"]);
    check("url = \"https://a.test\"", &["`endpoints[0].tools` is missing"]);
    check("url = \"https://a.test\"\ntools = \"none.json\"", &["none.json", "cannot read"]);
    check("url = \"https://u:canary@a.test/\"\ntools = \"tools.json\"", &["`endpoints[0].url`", "`headers`"]);
    check("url = \"https://a.test/?k=canary\"\ntools = \"tools.json\"", &["`endpoints[0].url`", "a query"]);
    check("url = 5\ntools = \"tools.json\"", &["`endpoints[0].url`", "must be a text"]);
    check("url = \"https://a.test\"\ntool = \"tools.json\"", &["`endpoints[0].tool`", "`tools`?"]);
    check(
        "url = \"https://a.test\"\ntools = \"tools.json\"\nheaders = { Host = \"x\" }",
        &["`endpoints[0].headers.Host`", "cannot be set"],
    );
    check("url = \"https://a.test\"\ntools = \"tether.toml\"", &["tether.toml: it is not valid JSON"]);
}

#[test]
fn a_tool_of_two_endpoints_names_both() {
    let text = "[[endpoints]]\nurl = \"https://a.test\"\ntools = \"tools.json\"\n\
                [[endpoints]]\nurl = \"https://b.test\"\ntools = \"tools.json\"";
    wrong(endpoints(text), &["`endpoints[1].tools`", "`get_ticket`", "https://a.test/", "https://b.test/"]);
}
