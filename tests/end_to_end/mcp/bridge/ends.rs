//! Going away, and calling off.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::Bridge;
use crate::mcp::BOTH;
use crate::support::{Reply, Server, Setup, Upstream, component, eventually};

/// A gateway whose `probe` reaches something that does not answer, and a read that waits for it.
fn waiting(upstream: &Upstream) -> (Server, String) {
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\"]\n",
        component("probe"),
        upstream.origin()
    );
    let arguments = json!({"method": "GET", "url": upstream.url("/slow")}).to_string();
    // It does not end by itself.
    let setup = Setup::of(&[]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "600");
    (setup.config("tether.toml", &config).start(), arguments)
}

/// What the answer to a request says that is none of the gateway's.
#[track_caller]
fn given_up(line: &str, id: u64) -> String {
    let answer: Value = serde_json::from_str(line).expect("it is JSON");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)), "{line}");
    answer["error"]["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_read_that_is_called_off_ends_and_is_not_answered() {
    let upstream = Upstream::always(Reply::Silence);
    let (server, arguments) = waiting(&upstream);
    for (number, revision) in BOTH.into_iter().enumerate() {
        let mut bridge = Bridge::new(&server, revision);
        let id = bridge.start("probe_send", &arguments);
        eventually("it sends", || (upstream.received().len() > number).then_some(()));
        bridge.line(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"x"}}}}"#
        ));
        eventually("it ends", || (upstream.gone() > number).then_some(()));
        bridge.ask("tools/list", "").result();
        assert!(!bridge.has_answered(id));
        // What is called off that nobody knows is no matter.
        bridge.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}"#);
        bridge.ask("tools/list", "").result();
    }
}

#[test]
fn what_is_called_off_of_a_list_is_neither_waited_for_nor_answered() {
    let upstream = Upstream::always(Reply::Silence);
    let (server, arguments) = waiting(&upstream);
    let read = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"probe_send","arguments":{arguments}}}}}"#
    );
    let other = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

    let mut bridge = Bridge::new(&server, "2025-03-26");
    bridge.line(&format!("[{read},{other}]"));
    bridge.answer(2).result();
    eventually("it sends", || (upstream.received().len() == 1).then_some(()));
    bridge.line(cancelled);
    eventually("it ends", || (upstream.gone() == 1).then_some(()));
    let ended = bridge.end();
    assert_eq!((ended.code, ended.stderr.as_str(), ended.lines.len()), (0, "", 0), "{:?}", ended.lines);

    for (list, answers) in
        [(format!("[{read},{cancelled},{other}]"), 1), (format!("[{cancelled},{read}]"), 0)]
    {
        let mut bridge = Bridge::new(&server, "2025-03-26");
        bridge.line(&list);
        let ended = bridge.end();
        assert_eq!(
            (ended.code, ended.stderr.as_str(), ended.lines.len()),
            (0, "", answers),
            "{:?}",
            ended.lines
        );
        assert!(ended.lines.iter().all(|line| line.contains(r#""id":2,"result""#)), "{:?}", ended.lines);
    }
}

#[test]
fn what_is_called_off_while_the_gateway_is_away_is_neither_answered_nor_a_failure() {
    let mut server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::new(&server, BOTH[1]);
    bridge.ask("tools/list", "").result();
    server.kill();
    let id = bridge.start("probe_write", r#"{"note":"x"}"#);
    bridge.line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
    let ended = bridge.end();
    assert_eq!((ended.code, ended.stderr.as_str(), ended.lines.len()), (0, "", 0), "{:?}", ended.lines);

    // What stands before it is another matter.
    let mut bridge = Bridge::at(&format!("http://{}", server.api.address), &server.api.token, BOTH[1]);
    server.restart_where_it_was();
    bridge.ask("tools/list", "").result();
    server.kill();
    let [first, second] = [(), ()].map(|()| bridge.start("probe_write", r#"{"note":"x"}"#));
    bridge.line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{second}}}}}"#
    ));
    let ended = bridge.end();
    assert_eq!((ended.code, ended.lines.len()), (1, 1), "{:?}", ended.lines);
    assert!(given_up(&ended.lines[0], first).contains("no gateway answers"), "{:?}", ended.lines);
}

#[test]
fn at_the_end_of_input_a_proposal_is_finished_and_a_read_is_given_up() {
    let upstream = Upstream::always(Reply::Silence);
    let (server, arguments) = waiting(&upstream);
    for (number, revision) in BOTH.into_iter().enumerate() {
        let mut bridge = Bridge::new(&server, revision);
        let read = bridge.start("probe_send", &arguments);
        eventually("it sends", || (upstream.received().len() > number).then_some(()));
        bridge.start("probe_write", r#"{"note":"the last word"}"#);
        let ended = bridge.end();
        assert_eq!((ended.code, ended.stderr.as_str(), ended.lines.len()), (0, "", 2), "{:?}", ended.lines);
        assert!(ended.lines[0].contains("Nothing is done yet."), "{:?}", ended.lines);
        assert!(given_up(&ended.lines[1], read).contains("did not answer in time"), "{:?}", ended.lines);
        eventually("it ends", || (upstream.gone() > number).then_some(()));
        let waiting = server.api.get("/v1/actions?status=Pending");
        assert_eq!(waiting.body["actions"].as_array().map(Vec::len), Some(number + 1));
    }
}

#[test]
fn the_end_of_input_is_seen_while_somebody_silent_is_waited_for() {
    let upstream = Upstream::always(Reply::Silence);
    // Either is answered before the next line is sent.
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ];
    let mut bridges = lines.map(|line| {
        let mut bridge = Bridge::at(&upstream.origin(), "t", BOTH[0]);
        bridge.line(line);
        bridge.line(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        bridge
    });
    eventually("both send", || (upstream.received().len() == 2).then_some(()));
    bridges.iter_mut().for_each(Bridge::close);
    for (mut bridge, ids) in bridges.into_iter().zip([&[1, 2][..], &[2]]) {
        eventually("it ends", || bridge.has_ended().then_some(()));
        let ended = bridge.wait_for_its_end();
        // Nobody ever answered: this is no success.
        assert_eq!(
            (ended.code, ended.lines.len(), ended.stderr.lines().count()),
            (1, ids.len(), 1),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("did not answer in time"), "{}", ended.stderr);
        for (line, id) in ended.lines.iter().zip(ids) {
            assert!(given_up(line, *id).contains("did not answer in time"), "{line}");
        }
    }
    assert_eq!(upstream.received().len(), 2, "the second lines were still waiting");
}

#[test]
fn what_the_gateway_refuses_in_words_of_the_protocol_got_as_far_as_it() {
    let mut server = Setup::of(&["probe"]).start();
    let url = format!("http://{}", server.api.address);
    server.kill();
    let mut bridge = Bridge::at(&url, &server.api.token, BOTH[1]);
    bridge.ask("tools/list", "").error();
    server.restart_where_it_was();
    bridge.line(r#"{"jsonrpc":"2.0","id":9,"method":"ping","method":"twice"}"#);
    assert_eq!(bridge.answer(9).error().0, -32600);
    assert_eq!(bridge.end().code, 0);

    // But for words at the door.
    let words = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"this host has another name"}}"#;
    let door = Upstream::always(Reply::Answer(421, "Content-Type: application/json\r\n", words.to_owned()));
    let mut bridge = Bridge::at(&door.origin(), "t", BOTH[1]);
    assert_eq!(bridge.ask("tools/list", "").error().1, "this host has another name");
    let ended = bridge.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (1, "this host has another name\n"));
}

#[test]
fn what_was_asked_last_decides_how_it_ends_and_not_what_was_answered_last() {
    let (answer, answered) = channel();
    let answered = Mutex::new(answered);
    let upstream = Upstream::start(move |number, _| match number {
        1 => {
            answered.lock().unwrap().recv().unwrap();
            Reply::Answer(
                200,
                "Content-Type: application/json\r\n",
                r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned(),
            )
        }
        _ => Reply::status(401),
    });
    let mut bridge = Bridge::at(&upstream.origin(), "t", BOTH[1]);
    let first = bridge.start("probe_echo", r#"{"value":1}"#);
    eventually("it is asked", || (upstream.received().len() == 1).then_some(()));
    bridge.ask("tools/list", "").error();
    answer.send(()).unwrap();
    bridge.answer(first).result();
    let ended = bridge.end();
    assert_eq!((ended.code, ended.stderr.lines().count()), (1, 1), "{}", ended.stderr);
}

#[test]
fn what_is_given_up_before_the_gateway_came_back_did_not_get_as_far_as_it() {
    for revision in BOTH {
        let mut server = Setup::of(&["probe"]).start();
        let mut bridge = Bridge::new(&server, revision);
        bridge.ask("tools/list", "").result();
        server.kill();
        let under_way = bridge.start("probe_write", r#"{"note":"x"}"#);
        // What follows it is not sent before it is.
        bridge.line(r#"{"jsonrpc":"2.0","method":"notifications/foo"}"#);
        let unsent = [(), ()].map(|()| bridge.send("tools/list", "", ""));
        bridge.line(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
            unsent[1]
        ));
        let ended = bridge.end();
        assert_eq!((ended.code, ended.stderr.lines().count()), (1, 1), "{}", ended.stderr);
        assert!(ended.stderr.contains("no gateway answers"), "{}", ended.stderr);
        assert_eq!(ended.lines.len(), 2, "{:?}", ended.lines);
        for (line, id) in ended.lines.iter().zip([under_way, unsent[0]]) {
            assert!(given_up(line, id).contains("no gateway answers"), "{line}");
        }
    }
}

#[test]
fn a_signal_ends_it_at_once_with_what_is_under_way() {
    let upstream = Upstream::always(Reply::Silence);
    let (server, arguments) = waiting(&upstream);
    let kinds = BOTH.into_iter().flat_map(|revision| [(revision, "TERM"), (revision, "INT")]);
    for (number, (revision, signal)) in kinds.enumerate() {
        let mut bridge = Bridge::new(&server, revision);
        bridge.start("probe_send", &arguments);
        eventually("it sends", || (upstream.received().len() > number).then_some(()));
        bridge.signal(signal);
        let ended = bridge.wait_for_its_end();
        assert_eq!((ended.code, ended.stderr.as_str(), ended.lines.len()), (0, "", 0), "{signal}");
        eventually("it ends", || (upstream.gone() > number).then_some(()));
    }
}

#[test]
fn a_client_that_reads_no_more_ends_it_quietly() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        bridge.stop_reading();
        // Only who speaks finds out that nobody listens.
        eventually("it ends", || {
            bridge.try_line(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
            bridge.has_ended().then_some(())
        });
        let ended = bridge.wait_for_its_end();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    }
}
