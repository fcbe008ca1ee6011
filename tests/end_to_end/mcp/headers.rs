//! Arguments that a client repeats in headers, and a name that is the host's own.

use serde_json::{Value, json};

use crate::mcp::client::{Client, STATELESS};
use crate::support::{Reply, Setup, Upstream};

/// A gateway in front of an endpoint with one read of this name.
fn offering(name: &str, upstream: &Upstream) -> Setup {
    let tools = json!([{
        "name": name,
        "effect": "read",
        "description": "Greets.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "x-mcp-header": "Greeted"}, "n": {}},
        },
    }]);
    let setup = Setup::of(&[]);
    let tools = setup.folder().file("tools.json", tools.to_string());
    let config = format!("[[endpoints]]\nurl = \"{}\"\ntools = {tools:?}\n", upstream.url("/tools"));
    setup.config("tether.toml", &config)
}

#[test]
fn an_argument_that_is_repeated_in_a_header_agrees_with_it() {
    let upstream = Upstream::always(Reply::ok("\"hello\""));
    let server = offering("greet", &upstream).start();
    let client = Client::new(&server, STATELESS);
    let arguments = r#"{"name":"ann","n":9007199254740993}"#;
    let ask = |headers: &[(&str, &str)]| client.call_saying("greet", arguments, headers);
    assert_eq!(ask(&[("Mcp-Param-Greeted", "ann")]).said(), "hello");
    let received = upstream.received();
    let body = &received.last().expect("it was asked").body;
    assert!(String::from_utf8_lossy(body).contains(&format!(r#""args":{arguments}"#)), "to the letter");
    for wrong in [&[("Mcp-Param-Greeted", "bob")][..], &[]] {
        let told = ask(wrong);
        assert_eq!((told.status, told.error()), (400, -32020));
    }
    // What speaks no HTTP itself cannot repeat anything.
    assert_eq!(ask(&[("Tether-Stdio", "1")]).said(), "hello");
    assert_eq!(upstream.received().len(), 2, "what does not agree is not called");
}

#[test]
fn the_name_of_the_hosts_own_tool_is_not_for_others() {
    let upstream = Upstream::always(Reply::ok("1"));
    let refused = offering("tether_actions", &upstream).refused();
    refused.check(2, &["`tether_actions`", "give it another name"]);
    let server = offering("tether_action", &upstream).start();
    let listed: Value = Client::new(&server, STATELESS).ask("tools/list", "").result()["tools"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
}
