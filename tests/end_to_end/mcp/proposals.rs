//! Writes: proposed by an agent, decided by a person.

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::Setup;

#[test]
fn an_agent_proposes_a_person_confirms_and_the_agent_fetches_the_result() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let proposed = client.call("probe_write", r#"{"note":"by an agent"}"#);
        assert!(proposed.said().starts_with("Nothing is done yet."), "{}", proposed.text);
        let id = proposed.action();
        assert_eq!(server.effects_of(&id), 0);
        let one = format!(r#"{{"actionId":"{id}"}}"#);
        assert_eq!(
            client.call("tether_actions", &one).result()["structuredContent"]["actions"][0]["status"],
            "Pending"
        );

        let result = server.api.confirm(&id, "{}").check("200 Succeeded").raw("result").to_owned();
        let done = client.call("tether_actions", &one);
        assert!(
            done.said().starts_with(&format!("Done. Action {id} of probe_write ran once")),
            "{}",
            done.text
        );
        assert!(done.text.contains(&format!(r#""result":{result}"#)), "{}", done.text);
        assert_eq!(server.effects_of(&id), 1);
        let history = server.api.get(&format!("/v1/actions/{id}/history"));
        assert!(history.text.contains(r#""channel":"mcp""#), "{}", history.text);
    }
}

#[test]
fn one_key_is_one_action_through_another_client_a_restart_and_http() {
    let mut server = Setup::of(&["probe"]).start();
    let arguments = r#"{"note":"once"}"#;
    let [session, stateless] = BOTH.map(|revision| Client::new(&server, revision));
    let id = session.call_with("order-7", "probe_write", arguments).action();
    assert_eq!(stateless.call_with("order-7", "probe_write", arguments).action(), id);
    assert_eq!(server.api.propose_with("order-7", "probe_write", arguments).str("actionId"), id);
    server.restart();
    for revision in BOTH {
        let client = Client::new(&server, revision);
        assert_eq!(client.call_with("order-7", "probe_write", arguments).action(), id);
        let other = client.call_with("order-7", "probe_write", r#"{"note":"twice"}"#);
        assert_eq!(other.code(), "IDEMPOTENCY_KEY_REUSED");
    }
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let client = Client::new(&server, BOTH[1]);
    assert!(client.call_with("order-7", "probe_write", arguments).said().starts_with("Done."));
    assert_eq!(server.effects().len(), 1);
}

#[test]
fn a_session_does_not_outlive_the_process_and_says_so() {
    let mut server = Setup::of(&["probe"]).start();
    let mut client = Client::new(&server, BOTH[0]);
    server.restart();
    client.api = server.api.clone();
    let told = client.ask("tools/list", "");
    assert_eq!((told.status, told.error()), (404, -32001));
}

#[test]
fn nobody_decides_over_mcp() {
    let server = Setup::of(&["probe"]).start();
    // The host's own token, which may do everything over HTTP.
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let id = client.call("probe_write", r#"{"note":"x"}"#).action();
        for method in ["actions/confirm", "confirm", "tether/confirm"] {
            assert_eq!(client.ask(method, &format!(r#""actionId":"{id}""#)).error(), -32601);
        }
        for tool in ["confirm", "tether_confirm"] {
            assert_eq!(client.call(tool, &format!(r#"{{"actionId":"{id}"}}"#)).error(), -32602);
        }
        server.api.action(&id).check("200 Pending");
    }
    assert!(server.effects().is_empty());
}
