//! Lists and reads.

use serde_json::Value;

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::Setup;

#[test]
fn the_tools_are_listed_with_hints_that_the_host_sees_to() {
    let server = Setup::of(&["tickets"]).start();
    for revision in BOTH {
        let list = Client::new(&server, revision).ask("tools/list", "");
        let tools = list.result()["tools"].as_array().expect("a list").clone();
        let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect(name).clone();
        assert_eq!(tool("get_ticket")["annotations"]["readOnlyHint"], true);
        assert_eq!(tool("get_ticket")["annotations"]["openWorldHint"], false);
        assert_eq!(tool("void_ticket")["annotations"]["readOnlyHint"], false);
        assert_eq!(tool("void_ticket")["annotations"]["destructiveHint"], true);
        assert_eq!(tool("tether_actions")["annotations"]["readOnlyHint"], true);
        for tool in &tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
    }
}

#[test]
fn a_read_answers_as_over_http() {
    let server = Setup::of(&["probe", "tickets"]).start();
    for (tool, arguments) in [
        ("get_ticket", r#"{"ticket_id":42}"#),
        ("probe_echo", r#"{"value":{"b":9007199254740993,"a":"👩‍🚀"}}"#),
    ] {
        let over_http = server.api.call(tool, arguments);
        let result = over_http.check("200 Succeeded").raw("result").to_owned();
        for revision in BOTH {
            let told = Client::new(&server, revision).call(tool, arguments);
            let structured = format!(r#""structuredContent":{result}"#);
            assert!(told.text.contains(&structured) || !result.starts_with('{'), "{}", told.text);
            assert_eq!(told.result()["isError"], false);
            assert_eq!(told.said(), result);
        }
    }
}

#[test]
fn a_failure_has_the_code_that_it_has_over_http() {
    let server = Setup::of(&["probe"]).start();
    for (tool, arguments) in
        [("probe_trap", "{}"), ("probe_panic", r#"{"words":["x"]}"#), ("probe_echo", "[]")]
    {
        let over_http = server.api.call(tool, arguments);
        for revision in BOTH {
            let told = Client::new(&server, revision).call(tool, arguments);
            assert_eq!(told.code(), over_http.str("code"), "{tool}");
            let problem = &told.result()["_meta"]["tether/problem"];
            assert_eq!(
                (&problem["status"], &problem["detail"]),
                (&over_http.body["status"], &over_http.body["detail"])
            );
        }
    }
}

#[test]
fn whoever_asks_is_told_of_the_attempts_and_of_nothing_after_the_result() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let told = client.call_as(
            client.fresh_id(),
            "probe_flaky",
            r#"{"until":3,"by":"transient"}"#,
            r#""progressToken":"a token""#,
        );
        assert_eq!(told.said(), "3");
        let messages: Vec<Value> = told.messages();
        let progress: Vec<_> =
            messages.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
        assert_eq!(progress, [1.0, 2.0, 3.0], "{}", told.text);
        assert_eq!(messages[1]["params"]["progressToken"], "a token");
        assert_eq!(messages[1]["params"]["message"], "attempt 2 of 3");
        assert_eq!(messages.len(), 4, "the result is the last: {}", told.text);
        let silent = client.call("probe_flaky", r#"{"until":2,"by":"transient"}"#);
        assert_eq!(silent.messages().len(), 1, "{}", silent.text);
    }
}
