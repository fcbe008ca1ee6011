//! Connections that are cut: a read ends, a proposal is made once.

use serde_json::json;

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::{Reply, Server, Setup, Upstream, component, eventually};

fn reaching(upstream: &Upstream) -> Server {
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
        component("probe"),
        upstream.origin()
    );
    Setup::of(&[]).config("tether.toml", &config).start()
}

#[test]
fn f30_a_read_whose_stream_is_cut_ends_with_what_it_sends() {
    let upstream = Upstream::always(Reply::Silence);
    let server = reaching(&upstream);
    let arguments = json!({"method": "GET", "url": upstream.url("/slow")}).to_string();
    for (number, revision) in BOTH.into_iter().enumerate() {
        let client = Client::new(&server, revision);
        let stream = client.start(client.fresh_id(), "probe_send", &arguments, "");
        eventually("it sends", || (upstream.received().len() > number).then_some(()));
        drop(stream);
        eventually("it ends", || (upstream.gone() > number).then_some(()));
    }
}

#[test]
fn a_proposal_that_is_cut_anywhere_and_repeated_is_one_action_and_one_effect() {
    let server = Setup::of(&["probe"]).start();
    for revision in BOTH {
        for bytes in [0, 1, 100, 400] {
            let key = format!("{revision} {bytes}");
            let arguments = format!(r#"{{"note":"{key}"}}"#);
            let meta = format!(r#""tether/idempotencyKey":"{key}""#);
            let client = Client::new(&server, revision);
            client.cut_after(bytes, client.fresh_id(), "probe_write", &arguments, &meta);
            let id = client.call_with(&key, "probe_write", &arguments).action();
            assert_eq!(
                Client::new(&server, revision).call_with(&key, "probe_write", &arguments).action(),
                id
            );
            server.api.confirm(&id, "{}").check("200 Succeeded");
            let notes = server.effects().into_iter().filter(|effect| effect.note == key).count();
            assert_eq!(notes, 1, "{key}");
        }
    }
    let list = server.api.get("/v1/actions?status=Pending");
    assert_eq!(list.body["actions"], json!([]), "no second proposal waits");
}

#[test]
fn in_a_session_the_same_request_sent_again_is_the_same_proposal() {
    let server = Setup::of(&["probe"]).start();
    let client = Client::new(&server, BOTH[0]);
    let id = client.fresh_id();
    client.cut_after(1, id, "probe_write", r#"{"note":"again"}"#, "");
    let first = client.call_as(id, "probe_write", r#"{"note":"again"}"#, "").action();
    assert_eq!(client.call_as(id, "probe_write", r#"{"note":"again"}"#, "").action(), first);
    let list = server.api.get("/v1/actions");
    assert_eq!(list.body["actions"].as_array().map(Vec::len), Some(1));
}
