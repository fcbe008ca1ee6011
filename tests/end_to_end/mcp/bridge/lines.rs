//! Lines of all sorts: each is answered as it deserves, and the next one as if nothing had been.

use serde_json::json;

use super::Bridge;
use crate::mcp::BOTH;
use crate::support::{Received, Reply, Setup, Upstream};

#[test]
fn what_is_no_message_is_answered_and_the_next_line_as_ever() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        for (line, code) in [
            (&b"no json\n"[..], -32700),
            (b"{\"jsonrpc\":\"2.0\"\r\n", -32700),
            (b"\xff\xfe\n", -32700),
            (b"{} {}\n", -32700),
            (b"5\n", -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", -32600),
        ] {
            bridge.bytes(line);
            assert_eq!(bridge.nameless().error().0, code, "{}", String::from_utf8_lossy(line));
        }
        // Blank lines are none, and a line may end as on Windows.
        bridge.bytes(b"\n  \r\n\r\n");
        let id = bridge.fresh_id();
        let wrong = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"method\":\"x\"}}\r\n");
        bridge.bytes(wrong.as_bytes());
        assert_eq!(bridge.answer(id).error().0, -32600, "the request is known, whatever is wrong");
        assert_eq!(bridge.call("probe_echo", r#"{"value":1}"#).said(), r#"{"value":1}"#);
        let ended = bridge.end();
        assert_eq!((ended.code, ended.lines.len()), (0, 0), "{:?}", ended.lines);
    }
}

#[test]
fn an_id_that_the_gateway_cannot_read_is_none_whoever_answers() {
    let mut server = Setup::of(&["probe"]).start();
    let (url, token) = (format!("http://{}", server.api.address), server.api.token.clone());
    let check = || {
        for revision in BOTH {
            let mut bridge = Bridge::at(&url, &token, revision);
            for id in [r#"7,"id":8"#, "1.5", "9223372036854775808", "1e400"] {
                bridge.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
                bridge.nameless().error();
            }
        }
    };
    check();
    server.kill();
    check();
}

#[test]
fn a_request_is_answered_whatever_it_is_called() {
    let server = Setup::of(&["probe"]).start();
    let unbegun = Bridge::at(&format!("http://{}", server.api.address), &server.api.token, BOTH[0]);
    for mut bridge in BOTH.map(|revision| Bridge::new(&server, revision)).into_iter().chain([unbegun]) {
        for method in ["notifications/cancelled", "notifications/initialized"] {
            bridge.ask(method, r#""requestId":3"#).error();
        }
    }
}

#[test]
fn whoever_begins_with_something_else_is_told_what_to_begin_with() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::at(&format!("http://{}", server.api.address), &server.api.token, BOTH[0]);
    for method in ["ping", "tools/list"] {
        let told = bridge.ask(method, "");
        let (code, words) = told.error();
        assert_eq!(code, -32600);
        assert!(words.contains("begin with `initialize`") && !words.contains("ession ID"), "{words}");
    }
    bridge.begin(&json!({}));
    bridge.ask("ping", "").result();
}

#[test]
fn a_session_goes_on_until_another_has_begun() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::new(&server, BOTH[0]);
    bridge.line(r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#);
    bridge.line(r#"{"jsonrpc":"2.0","id":null,"method":"initialize","params":{}}"#);
    bridge.nameless().error();
    bridge.ask("initialize", "").error();
    bridge.ask("tools/list", "").result();
    bridge.begin(&json!({}));
    bridge.ask("tools/list", "").result();

    let upstream = opening_a_session();
    let mut bridge = Bridge::at(&upstream.origin(), "t", BOTH[0]);
    for revision in ["2025-11-25", "refused", "2025-11-25"] {
        bridge.line(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}"}}}}"#
        ));
        bridge.answer(1);
    }
    bridge.end();
    let methods: Vec<_> = upstream.received().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["POST", "POST", "POST", "DELETE", "DELETE"]);
}

#[test]
fn a_line_that_is_too_long_is_refused_with_its_id_where_that_can_be_known() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        let told = bridge.call("probe_echo", &format!(r#"{{"value":"{}"}}"#, "x".repeat(2 << 20)));
        assert!(told.error().1.starts_with("BODY_TOO_LARGE"), "{}", told.line);
        bridge.line(&format!(r#"{{"jsonrpc":"2.0","id":77,"method":"{}"}}"#, "x".repeat(17 << 20)));
        assert_eq!(bridge.nameless().error().0, -32600);
        let whole = format!(r#"{{"value":"{}"}}"#, "👩‍🚀".repeat(20_000));
        assert_eq!(bridge.call("probe_echo", &whole).said(), whole);
    }
}

#[test]
fn a_list_of_messages_is_for_the_revision_that_knows_it() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::new(&server, "2025-03-26");
    bridge
        .line(r#"[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"tools/list"}]"#);
    bridge.answer(9).result();
    bridge.answer(8).result();
    let mut bridge = Bridge::new(&server, BOTH[0]);
    bridge.line(r#"[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"ping"}]"#);
    for id in [8, 9] {
        assert_eq!(bridge.answer(id).error().0, -32600);
    }
}

/// Something that opens a session unless `"refused"` is asked for, and answers all else in the
/// same way.
fn opening_a_session() -> Upstream {
    Upstream::start(|_, request| match request.method.as_str() {
        "POST" if request.body.windows(9).any(|part| part == b"\"refused\"") => Reply::Answer(
            200,
            "Content-Type: application/json\r\n",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#.to_owned(),
        ),
        "POST" => Reply::Answer(
            200,
            "Content-Type: application/json\r\nMcp-Session-Id: s\r\n",
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#.to_owned(),
        ),
        "GET" => Reply::Silence,
        _ => Reply::status(204),
    })
}

#[test]
fn what_is_sent_says_what_the_revision_asks_for_and_a_proposal_has_a_key() {
    let upstream = opening_a_session();
    let mut bridge = Bridge::at(&upstream.origin(), "t", BOTH[1]);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
    ] {
        bridge.line(line);
        bridge.answer(1);
    }
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    bridge
        .line(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ä",{meta}}}}}"#));
    bridge.answer(1);
    assert_eq!(bridge.end().code, 0);

    let sent = upstream.received();
    let header = |request: &Received, name: &str| request.header(name).unwrap_or("-").to_owned();
    let in_order = |name: &str| {
        let posts = sent.iter().filter(|request| request.method == "POST");
        posts.map(|request| header(request, name)).collect::<Vec<_>>()
    };
    assert_eq!(in_order("Mcp-Session-Id"), ["-", "s", "s", "-"]);
    assert_eq!(in_order("MCP-Protocol-Version"), ["-", "2025-11-25", "2025-11-25", "2026-07-28"]);
    assert_eq!(in_order("Mcp-Method"), ["-", "-", "-", "tools/call"]);
    assert_eq!(in_order("Mcp-Name"), ["-", "-", "-", "=?base64?w6Q=?="]);
    assert_eq!(in_order("Tether-Stdio"), ["1"; 4]);
    let keys = in_order("Idempotency-Key");
    assert!(keys[2].starts_with("stdio:") && keys[3].starts_with("stdio:") && keys[2] != keys[3], "{keys:?}");
    assert_eq!(keys[..2], ["-", "-"]);
    // The last thing is the end of the session.
    let last = sent.last().expect("it was asked");
    assert_eq!((last.method.as_str(), header(last, "Mcp-Session-Id").as_str()), ("DELETE", "s"));
}
