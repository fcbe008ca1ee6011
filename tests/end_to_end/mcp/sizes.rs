//! Much of everything: tools, results, arguments, bodies.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::BOTH;
use crate::mcp::client::{Client, Told};
use crate::support::{Reply, Server, Setup, Upstream};

/// Tools of one endpoint.
const TOOLS: usize = 10_000;

/// Tools on a page, where nobody says otherwise.
const PAGE: usize = 500;

/// The longest arguments.
const ARGUMENTS: usize = 1 << 20;

/// The longest body.
const BODY: usize = ARGUMENTS + (64 << 10);

/// A gateway in front of an endpoint with so many tools, and their names in order.
fn with_tools(count: usize, upstream: &Upstream) -> (Server, Vec<String>) {
    let names: Vec<_> = (0..count).map(|number| format!("tool_{number:05}")).collect();
    let tool = |(number, name): (usize, &String)| {
        json!({
            "name": name,
            "effect": if number % 2 == 0 { "read" } else { "write" },
            "description": format!("Does what the tool with the number {number} does."),
            "inputSchema": {"type": "object", "properties": {"n": {"const": number}}},
        })
    };
    // In no order of their names.
    let tools: Vec<_> = names.iter().enumerate().rev().map(tool).collect();
    let setup = Setup::of(&[]);
    let file = setup.folder().file("tools.json", Value::Array(tools).to_string());
    let config = format!("[[endpoints]]\nurl = \"{}\"\ntools = {file:?}\n", upstream.url("/tools"));
    (setup.config("tether.toml", &config).start(), names)
}

/// What a client has of the list.
#[derive(Default)]
struct Listed {
    names: Vec<String>,
    cursor: Option<String>,
    pages: usize,
    bytes: usize,
    time: Duration,
}

impl Listed {
    /// Goes on with it, up to so many pages or the end.
    fn go_on(&mut self, client: &Client, pages: usize) {
        let start = Instant::now();
        while self.pages < pages && (self.pages == 0 || self.cursor.is_some()) {
            let cursor = self.cursor.as_ref();
            let members = cursor.map(|cursor| format!(r#""cursor":"{cursor}""#)).unwrap_or_default();
            let told = client.ask("tools/list", &members);
            let page = told.result();
            let tools = page["tools"].as_array().expect("a list");
            self.names.extend(tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned));
            self.cursor = page["nextCursor"].as_str().map(str::to_owned);
            assert!(tools.len() == PAGE || self.cursor.is_none(), "{} tools on a page", tools.len());
            self.pages += 1;
            self.bytes += told.text.len();
        }
        self.time += start.elapsed();
    }
}

#[test]
fn ten_thousand_tools_are_listed_once_each_and_in_order_and_a_cursor_outlives_the_host() {
    let upstream = Upstream::always(Reply::ok("7"));
    let start = Instant::now();
    let (mut server, mut names) = with_tools(TOOLS, &upstream);
    println!("{TOOLS} tools: started in {:?}", start.elapsed());
    // Before them in the order.
    names.insert(0, "tether_actions".to_owned());
    let mut lists = BOTH.map(|_| Listed::default());
    let mut go_on = |server: &Server, pages| {
        for (revision, listed) in BOTH.into_iter().zip(&mut lists) {
            listed.go_on(&Client::new(server, revision), pages);
        }
    };
    go_on(&server, TOOLS / PAGE / 2);
    server.restart();
    go_on(&server, usize::MAX);
    for (revision, Listed { names: listed, pages, bytes, time, .. }) in BOTH.into_iter().zip(lists) {
        println!("{revision}: {pages} pages, {bytes} bytes, {time:?}");
        assert_eq!(listed, names);
    }
    let http = server.api.get("/v1/tools");
    let over_http: Vec<_> = http.body["tools"].as_array().expect("a list").iter().collect();
    assert_eq!(over_http.len(), TOOLS, "the host's own tool is one of MCP's only");
    let client = Client::new(&server, BOTH[1]);
    assert_eq!(client.call("tool_09998", r#"{"n":9998}"#).said(), "7");
    assert_eq!(client.call("tool_09998", r#"{"n":9999}"#).code(), "INVALID_ARGUMENTS");
}

#[test]
fn results_of_250_kilobytes_come_whole_as_text_and_as_structured_content() {
    let server = Setup::of(&["probe"]).start();
    const BYTES: usize = 250_000;
    // A text, and an object with characters of one to four bytes.
    let text = format!("{}😀", "x".repeat(BYTES - 6));
    let object = format!(r#"{{"n":9007199254740993,"text":"{}"}}"#, "aé€😀".repeat(BYTES / 10));
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let start = Instant::now();
        let told = client.call("probe_big", &format!(r#"{{"bytes":{BYTES},"emoji":true}}"#));
        assert_eq!(told.said(), text);
        let told = client.call("probe_echo", &object);
        assert_eq!(told.said(), object);
        assert!(told.text.contains(&format!(r#""structuredContent":{object}"#)), "to the letter");
        // Of a write, once it was confirmed.
        let id = client.call("probe_big_write", &format!(r#"{{"bytes":{BYTES},"emoji":true}}"#)).action();
        server.api.confirm(&id, "{}").check("200 Succeeded");
        let told = client.call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#));
        assert!(told.said().ends_with(&format!("and gave: {text}")), "whole");
        assert_eq!(told.result()["structuredContent"]["actions"][0]["result"], text.as_str());
        println!(
            "{revision}: three results of {BYTES} bytes in {:?}, {} bytes the last",
            start.elapsed(),
            told.text.len()
        );
    }
}

#[test]
fn arguments_are_taken_up_to_their_limit_and_not_a_byte_further() {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__MAX_RESPONSE_BYTES", "2000000").start();
    let arguments = |bytes: usize| format!(r#"{{"note":"{}"}}"#, "x".repeat(bytes - r#"{"note":""}"#.len()));
    for revision in BOTH {
        let client = Client::new(&server, revision);
        for tool in ["probe_echo", "probe_keep"] {
            for bytes in [ARGUMENTS - 1, ARGUMENTS] {
                let told = client.call(tool, &arguments(bytes));
                assert_eq!(told.result()["isError"], false, "{tool} {bytes}: {:.300}", told.text);
            }
            let http = server.api.call(tool, &arguments(ARGUMENTS + 1));
            let told = client.call(tool, &arguments(ARGUMENTS + 1));
            assert_eq!(told.code(), http.check("422 INVALID_ARGUMENTS").str("code"));
            assert_eq!(told.result()["_meta"]["tether/problem"]["detail"], http.body["detail"]);
        }
    }
}

#[test]
fn a_body_is_taken_up_to_its_limit_and_not_a_byte_further() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let padded = |bytes: usize| {
            let request = client.request(
                client.fresh_id(),
                "tools/call",
                r#""name":"probe_echo","arguments":{"n":1}"#,
                "",
            );
            format!("{request}{}", " ".repeat(bytes - request.len()))
        };
        let send = |bytes: usize| client.post("tools/call", Some("probe_echo"), &[], &padded(bytes));
        assert_eq!(Told::of(send(BODY)).said(), r#"{"n":1}"#);
        send(BODY + 1).check("413 BODY_TOO_LARGE");
    }
}
