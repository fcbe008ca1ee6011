//! Answers that are lost, and gateways that go away: the client notices nothing, and nothing
//! happens twice.

use serde_json::json;

use super::Bridge;
use super::proxy::Proxy;
use crate::mcp::BOTH;
use crate::support::{Reply, Setup, Upstream, eventually};

#[test]
fn a_proposal_whose_answer_is_lost_is_one_action_and_one_effect() {
    let server = Setup::of(&["probe"]).start();
    let proxy = Proxy::start(server.api.address);
    for revision in BOTH {
        let mut bridge = Bridge::at(&proxy.url(), &server.api.token, revision);
        bridge.begin(&json!({}));
        for (calls, bytes) in [(1, 0), (1, 1), (1, 200), (1, 700), (3, 100)] {
            let note = format!("{revision} {bytes}");
            proxy.lose(calls, bytes);
            let id = bridge.call("probe_write", &format!(r#"{{"note":"{note}"}}"#)).action();
            assert_eq!(proxy.lost(), calls, "{note}");
            server.api.confirm(&id, "{}").check("200 Succeeded");
            assert_eq!(server.effects().into_iter().filter(|effect| effect.note == note).count(), 1);
        }
        proxy.lose(1, 300);
        assert_eq!(bridge.call("probe_echo", r#"{"value":5}"#).said(), r#"{"value":5}"#);
        assert_eq!(proxy.lost(), 1);
    }
    assert_eq!(server.api.get("/v1/actions?status=Pending").body["actions"], json!([]), "no second one");
}

#[test]
fn a_request_whose_answers_are_all_lost_is_answered_with_that() {
    let server = Setup::of(&["probe"]).start();
    let proxy = Proxy::start(server.api.address);
    let mut bridge = Bridge::at(&proxy.url(), &server.api.token, BOTH[1]);
    proxy.lose(5, 0);
    let told = bridge.call("probe_write", r#"{"note":"x"}"#);
    let (code, words) = told.error();
    assert_eq!((code, proxy.lost()), (-32603, 5));
    assert!(words.contains("was lost") && words.contains("before you repeat it"), "{words}");
    // It was proposed, once, and what follows is answered as ever.
    let list = bridge.call("tether_actions", "{}");
    assert_eq!(list.result()["structuredContent"]["actions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_client_does_not_notice_that_the_gateway_was_killed_and_started_again() {
    let mut server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        let id = bridge.call("probe_write", &format!(r#"{{"note":"{revision}"}}"#)).action();
        server.restart_where_it_was();
        server.api.confirm(&id, "{}").check("200 Succeeded");
        assert!(bridge.action(&id).said().starts_with("Done."));
        if revision == BOTH[0] {
            // The tools may be others now.
            bridge.told("notifications/tools/list_changed");
        }
        let ended = bridge.end();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    }
    assert_eq!(server.effects().len(), 2);
}

#[test]
fn a_proposal_in_whose_middle_the_gateway_is_killed_is_made_once() {
    for revision in BOTH {
        for point in ["before-propose", "proposed"] {
            let mut server = Setup::of(&["probe"]).fault(point).start();
            let mut bridge = Bridge::new(&server, revision);
            let call = bridge.start("probe_write", r#"{"note":"x"}"#);
            server.wait_for_the_fault();
            server.restart_where_it_was();
            let id = bridge.answer(call).action();
            let list = server.api.get("/v1/actions");
            assert_eq!(list.body["actions"].as_array().map(Vec::len), Some(1), "{point}");
            server.api.confirm(&id, "{}").check("200 Succeeded");
            assert_eq!(server.effects().len(), 1, "{point}");
        }
    }
}

#[test]
fn whoever_listens_is_told_of_a_restart_without_asking() {
    let mut server = Setup::of(&["probe"]).start();
    let mut session = Bridge::new(&server, BOTH[0]);
    let mut stateless = Bridge::new(&server, BOTH[1]);
    stateless.send("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#, "");
    stateless.told("notifications/tools/list_changed");
    server.restart_where_it_was();
    session.told("notifications/tools/list_changed");
    stateless.told("notifications/tools/list_changed");
    // Neither has missed a handshake.
    for bridge in [&mut session, &mut stateless] {
        bridge.ask("tools/list", "").result();
    }
}

#[test]
fn without_a_gateway_each_request_is_answered_with_that_and_the_next_finds_one() {
    let mut server = Setup::of(&["probe"]).start();
    let url = format!("http://{}", server.api.address);
    server.kill();
    for revision in BOTH {
        let mut bridge = Bridge::at(&url, &server.api.token, revision);
        for method in ["initialize", "tools/list"] {
            let told = bridge.ask(method, "");
            let (code, words) = told.error();
            assert_eq!(code, -32603);
            assert!(words.contains(&format!("no gateway answers at {url}")), "{words}");
        }
        let ended = bridge.end();
        assert_eq!((ended.code, ended.stderr.lines().count()), (1, 1), "{}", ended.stderr);
        assert!(ended.stderr.contains("`tether serve`"), "{}", ended.stderr);
    }
    let mut bridge = Bridge::at(&url, &server.api.token, BOTH[1]);
    bridge.ask("tools/list", "").error();
    server.restart_where_it_was();
    bridge.ask("tools/list", "").result();
    assert_eq!(bridge.end().code, 0);
}

#[test]
fn lines_wait_for_the_gateway_and_are_answered_whatever_stands_before_them() {
    let mut server = Setup::of(&["probe"]).start();
    let mut bridges = BOTH.map(|revision| Bridge::new(&server, revision));
    bridges.iter_mut().for_each(|bridge| _ = bridge.ask("tools/list", "").result());
    server.kill();
    let asked = bridges.each_mut().map(|bridge| {
        let first = bridge.start("probe_echo", r#"{"value":1}"#);
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/foo"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}"#,
            r#"{"jsonrpc":"2.0","id":"none","result":{}}"#,
        ] {
            bridge.line(line);
        }
        (first, bridge.send("tools/list", "", ""))
    });
    server.restart_where_it_was();
    for (bridge, (first, last)) in bridges.iter_mut().zip(asked) {
        bridge.answer(first).result();
        bridge.answer(last).result();
    }
}

#[test]
fn a_token_that_opens_nothing_and_a_server_that_is_no_gateway_are_told_with_the_way_out() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::at(&format!("http://{}", server.api.address), "wrong", BOTH[1]);
    let told = bridge.ask("tools/list", "");
    assert!(told.error().1.starts_with("UNAUTHENTICATED: "), "{}", told.line);
    let ended = bridge.end();
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("--token") && !ended.stderr.contains("wrong"), "{}", ended.stderr);

    let other = Upstream::always(Reply::Answer(418, "", "hi".to_owned()));
    let mut bridge = Bridge::at(&other.origin(), "t", BOTH[1]);
    let told = bridge.ask("tools/list", "");
    assert!(told.error().1.contains("status 418"), "{}", told.line);
    eventually("it is told", || bridge.log().text().contains("check --url").then_some(()));
}

#[test]
fn what_is_no_message_is_not_passed_on_and_whoever_says_it_is_not_asked_again() {
    const JSON: &str = "Content-Type: application/json\r\n";
    const EVENTS: &str = "Content-Type: text/event-stream\r\n";
    for (headers, body) in [
        ("Content-Type: text/html\r\n", "<html>"),
        ("", "hello"),
        (JSON, r#"{"a":1}"#),
        (JSON, r#"[{"jsonrpc":"2.0","id":2,"result":{}},{"a":1}]"#),
        (EVENTS, "data: not json\n\n"),
    ] {
        let other = Upstream::always(Reply::Answer(200, headers, body.to_owned()));
        for (revision, method) in [(BOTH[0], "initialize"), (BOTH[0], "tools/list"), (BOTH[1], "tools/call")]
        {
            let before = other.received().len();
            let mut bridge = Bridge::at(&other.origin(), "t", revision);
            let told = bridge.ask(method, r#""name":"x""#);
            let (code, words) = told.error();
            assert_eq!(code, -32603);
            assert!(words.contains("status 200 and is not one of a Tether gateway; check --url"), "{words}");
            // What expects no answer is told on standard error only.
            bridge.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            let ended = bridge.end();
            assert_eq!((ended.code, ended.lines.len()), (1, 0), "{body}: {:?}", ended.lines);
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
            assert_eq!(other.received().len() - before, 2, "each line is sent once: {body}");
        }
    }
}
