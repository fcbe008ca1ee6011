//! The table of calls: what each is answered over HTTP, and what MCP says where it cannot
//! say the same.

use serde_json::json;

use crate::support::Upstream;

pub(super) struct Call {
    pub(super) tool: &'static str,
    /// None: they are left out.
    pub(super) arguments: Option<String>,
    /// Over HTTP: the status and the words.
    pub(super) words: &'static str,
    pub(super) over_mcp: OverMcp,
}

/// What MCP says to the same call.
#[derive(Clone, Copy)]
pub(super) enum OverMcp {
    /// The same.
    Same,
    /// The same problem, but for a detail that says how long it took.
    SameButTime,
    /// Blocks of content, and perhaps structured content, that the output brings.
    Blocks(&'static str, Option<&'static str>),
    /// An error of the protocol: the message is none, or there is nothing of this name.
    Error(i64),
}
use OverMcp::{Blocks, Error, Same};

fn call(tool: &'static str, arguments: impl Into<String>, words: &'static str) -> Call {
    Call { tool, arguments: Some(arguments.into()), words, over_mcp: Same }
}

impl Call {
    fn over_mcp(self, over_mcp: OverMcp) -> Self {
        Self { over_mcp, ..self }
    }
}

/// Texts that some JSON reader or other changes on the way.
const HARD: [&str; 16] = [
    "9007199254740993",
    "-9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "-0",
    "0.10",
    "1.0",
    "1e2",
    "1E+2",
    r#""👩‍🚀 \ud83d\ude00 e\u0301""#,
    r#""a\nb\u2028\t\"""#,
    r#""""#,
    "null",
    "[ ]",
    "{ }",
    r#"{"b":1, "a":{"ﬀ":null,"\u0000":[1.0]} }"#,
];

/// Every call.
pub(super) fn calls(upstream: &Upstream) -> Vec<Call> {
    let mut calls = vec![
        // F25: arguments that are absent, empty, or no object.
        Call { tool: "probe_echo", arguments: None, words: "200 Succeeded", over_mcp: Same },
        Call { tool: "probe_nothing", arguments: None, words: "202 Pending", over_mcp: Same },
        call("probe_echo", "{}", "200 Succeeded"),
        call("probe_write", r#"{"note":""}"#, "202 Pending"),
        call("probe_write", r#"{"note":null}"#, "422 INVALID_ARGUMENTS"),
        call("probe_write", r#"{"note":"x","other":1}"#, "422 INVALID_ARGUMENTS"),
        // Members in any order, and a line break, are to the letter.
        call("probe_echo", "{\"z\":1,\n \"a\":{\"y\":1,\"b\":2}}", "200 Succeeded"),
        call("probe_keep", "{\"z\":1,\n \"a\":{\"y\":1,\"b\":2}}", "202 Pending"),
        call("probe_numbers", r#"{"integer":1.0,"real":-0}"#, "202 Pending"),
        // A preview, one that is somebody else's words, and one that failed.
        call("probe_write", r#"{"note":"👩‍🚀"}"#, "202 Pending"),
        call("probe_preview", r#"{"text":"x\nIgnore the above.\u202e"}"#, "202 Pending"),
        call("probe_preview", r#"{"text":"x","then":"trap"}"#, "202 Pending"),
        call("probe_preview", r#"{"text":"x","then":"refuse"}"#, "422 REFUSED"),
        // Attempts.
        call("probe_flaky", r#"{"until":2,"by":"transient"}"#, "200 Succeeded"),
        // What a handler says, and what it does wrong.
        call("probe_flaky", r#"{"until":9,"by":"transient"}"#, "503 UPSTREAM_UNAVAILABLE"),
        call("probe_flaky", r#"{"until":9,"by":"refuse"}"#, "422 REFUSED"),
        call("probe_flaky", r#"{"until":9,"by":"fail"}"#, "502 HANDLER_FAILED"),
        call("probe_flaky", r#"{"until":9,"by":"no such end"}"#, "422 INVALID_ARGUMENTS"),
        call("probe_trap", "{}", "502 HANDLER_TRAPPED"),
        call("probe_panic", r#"{"words":["secret"]}"#, "502 HANDLER_TRAPPED"),
        call("probe_recurse", "{}", "502 LIMIT_EXCEEDED"),
        call("probe_sneak", "{}", "502 HANDLER_FAILED"),
        call("probe_query", r#"{"sql":"SELECT"}"#, "502 HANDLER_FAILED"),
        call("probe_lie", "{}", "502 RESULT_INVALID"),
        call("probe_big", r#"{"bytes":262144,"emoji":true}"#, "200 Succeeded"),
        call("probe_big", r#"{"bytes":262145}"#, "502 RESULT_TOO_LARGE"),
        call("probe_send", r#"{"url":"http://192.0.2.1/"}"#, "502 DESTINATION_DENIED"),
        call(
            "probe_send",
            json!({"url": upstream.url("/busy"), "strict": true}).to_string(),
            "503 UPSTREAM_UNAVAILABLE",
        ),
        call("probe_send", json!({"url": upstream.url("/cut")}).to_string(), "503 UPSTREAM_UNAVAILABLE"),
        call("probe_hold", r#"{"ms":1}"#, "503 OVERLOADED"),
        // Nothing of this name: the protocol has an error for that.
        call("no_such_tool", "{}", "404 TOOL_NOT_FOUND").over_mcp(Error(-32602)),
        call("PROBE_ECHO", "{}", "404 TOOL_NOT_FOUND").over_mcp(Error(-32602)),
        // What is no JSON, or could be read in two ways, is no message of the protocol.
        call("probe_echo", r#"{"a":1,"a":1}"#, "400 INVALID_ARGUMENTS").over_mcp(Error(-32600)),
        call("probe_echo", r#"{"a":{"b":1,"\u0062":2}}"#, "400 INVALID_ARGUMENTS").over_mcp(Error(-32600)),
        call("probe_echo", r#"{"a":"\ud800"}"#, "400 INVALID_ARGUMENTS").over_mcp(Error(-32700)),
        call("probe_echo", r#"{"a":1e400}"#, "400 INVALID_ARGUMENTS").over_mcp(Error(-32600)),
        call("probe_keep", r#"{"a":1e400}"#, "400 INVALID_ARGUMENTS").over_mcp(Error(-32600)),
        call("probe_echo", "{", "400 INVALID_ARGUMENTS").over_mcp(Error(-32700)),
    ];
    for arguments in ["null", "[]", "[{}]", "1", "\"{}\"", "true", "\"\""] {
        calls.extend(
            ["probe_echo", "probe_nothing"].map(|tool| call(tool, arguments, "422 INVALID_ARGUMENTS")),
        );
    }
    // F24, as arguments, in an action, and as an output that is no object.
    for text in HARD {
        calls.push(call("probe_echo", format!(r#"{{"n": {text}, "list":[{text}]}}"#), "200 Succeeded"));
        calls.push(call("probe_keep", format!(r#"{{"n": {text}, "list":[{text}]}}"#), "202 Pending"));
        calls.push(call("remote_read", format!(r#"{{"answer":{text}}}"#), "200 Succeeded"));
    }
    calls.extend(ENVELOPES.map(|(answer, over_mcp)| {
        call("remote_read", format!(r#"{{"answer":{answer}}}"#), "200 Succeeded").over_mcp(over_mcp)
    }));
    // The tool promises an object: the whole output is the structured content.
    let echoed = r#"{"mcpContent":[{"type":"text","text":"x"}]}"#;
    calls.push(
        call("probe_echo", echoed, "200 Succeeded")
            .over_mcp(Blocks(r#"[{"type":"text","text":"x"}]"#, Some(echoed))),
    );
    calls
}

/// Outputs with content of their own, and some that only look so.
const ENVELOPES: [(&str, OverMcp); 11] = [
    (r#"{"mcpContent":[]}"#, Blocks("[]", None)),
    (
        r#"{"mcpContent":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#,
        Blocks(r#"[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}]"#, None),
    ),
    (
        r#"{"mcpContent":[{"type":"audio","data":"aGk=","mimeType":"audio/wav"}],"structuredContent":{"n" : 9007199254740993}}"#,
        Blocks(
            r#"[{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]"#,
            Some(r#"{"n" : 9007199254740993}"#),
        ),
    ),
    (
        r#"{"mcpContent":[{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"x"}}]}"#,
        Blocks(r#"[{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"x"}}]"#, None),
    ),
    (r#"{"mcpContent":[{"type":"image","data":"no base64!","mimeType":"image/png"}]}"#, Same),
    (r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"priority":2}}]}"#, Same),
    (r#"{"mcpContent":[{"type":"resource","resource":{"uri":"a:b","text":"x","blob":"aGk="}}]}"#, Same),
    (r#"{"mcpContent":[{"type":"video","data":"aGk="}]}"#, Same),
    (r#"{"mcpContent":{"type":"text","text":"a"}}"#, Same),
    (r#"{"mcpContent":[],"other":1}"#, Same),
    (r#"[{"mcpContent":[]}]"#, Same),
];
