//! Lists, reads, proposals: as over HTTP.

use serde_json::json;

use super::Bridge;
use crate::mcp::BOTH;
use crate::support::{Setup, crowd};

#[test]
fn an_agent_lists_reads_proposes_and_fetches_what_a_person_confirmed() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        let list = bridge.ask("tools/list", "");
        assert!(list.line.contains(r#""name":"probe_write""#), "{}", list.line);
        let value = r#"{"b":9007199254740993,"a":"👩‍🚀","n":1.0}"#;
        let read = bridge.call("probe_echo", &format!(r#"{{"value":{value}}}"#));
        assert!(read.line.contains(&format!(r#""structuredContent":{{"value":{value}}}"#)), "{}", read.line);

        let proposed = bridge.call("probe_write", &format!(r#"{{"note":"{revision}"}}"#));
        assert!(proposed.said().starts_with("Nothing is done yet."), "{}", proposed.line);
        let id = proposed.action();
        assert_eq!(server.effects_of(&id), 0);
        let result = server.api.confirm(&id, "{}").check("200 Succeeded").raw("result").to_owned();
        let done = bridge.action(&id);
        assert!(done.said().starts_with(&format!("Done. Action {id} of probe_write")), "{}", done.line);
        assert!(done.line.contains(&format!(r#""result":{result}"#)), "{}", done.line);
        assert_eq!(server.effects_of(&id), 1);
        // The same words again are another proposal, as they are of another line.
        assert_ne!(bridge.call("probe_write", &format!(r#"{{"note":"{revision}"}}"#)).action(), id);

        let ended = bridge.end();
        assert_eq!((ended.code, ended.stderr.as_str(), ended.lines.len()), (0, "", 0), "{:?}", ended.lines);
    }
}

#[test]
fn what_the_client_wrote_before_it_read_anything_is_answered_in_order() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::at(&format!("http://{}", server.api.address), &server.api.token, BOTH[0]);
    let handshake =
        json!({"protocolVersion": BOTH[0], "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    bridge.bytes(
        format!(
            "{}\n{}\n{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        )
        .as_bytes(),
    );
    let ended = bridge.end();
    assert_eq!(ended.code, 0);
    let answered = |id: &str| ended.lines.iter().any(|line| line.contains(id) && line.contains("result"));
    assert!(answered(r#""id":1,"#) && answered(r#""id":2,"#), "{:?}", ended.lines);
}

#[test]
fn what_the_server_asks_reaches_the_client_and_its_answer_the_server() {
    let server = Setup::of(&["probe"]).start();
    let mut bridge = Bridge::at(&format!("http://{}", server.api.address), &server.api.token, BOTH[0]);
    bridge.begin(&json!({"elicitation": {"url": {}}}));
    let id = bridge.start("probe_write", r#"{"note":"x"}"#);
    let asked = bridge.told("elicitation/create");
    assert_eq!(asked.message["params"]["mode"], "url", "{}", asked.line);
    let answer = json!({"jsonrpc": "2.0", "id": asked.message["id"], "result": {"action": "accept"}});
    bridge.line(&answer.to_string());
    let action = bridge.answer(id).action();
    server.api.action(&action).check("200 Pending");
}

#[test]
fn a_call_is_told_of_its_attempts_while_it_runs() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let mut bridge = Bridge::new(&server, revision);
        let members = r#""name":"probe_flaky","arguments":{"until":3,"by":"transient"}"#;
        let id = bridge.send("tools/call", members, r#""progressToken":"t""#);
        for attempt in [1.0, 2.0, 3.0] {
            assert_eq!(bridge.told("notifications/progress").message["params"]["progress"], attempt);
        }
        assert_eq!(bridge.answer(id).said(), "3");
    }
}

#[test]
fn many_requests_of_one_client_and_several_clients_are_answered_each() {
    let server = Setup::of(&["probe"]).start();
    crowd(4, |number| {
        let mut bridge = Bridge::new(&server, BOTH[number % 2]);
        let ids: Vec<_> = (0..100)
            .map(|call| bridge.start("probe_echo", &format!(r#"{{"value":"{number} {call}"}}"#)))
            .collect();
        // In any order, and each its own.
        for (call, id) in ids.into_iter().enumerate().rev() {
            let said = format!(r#"{{"value":"{number} {call}"}}"#);
            assert_eq!(bridge.answer(id).said(), said);
        }
        let id = bridge.call("probe_write", &format!(r#"{{"note":"{number}"}}"#)).action();
        server.api.confirm(&id, "{}").check("200 Succeeded");
        assert_eq!(bridge.end().code, 0);
    });
    assert_eq!(server.effects().len(), 4);
}
