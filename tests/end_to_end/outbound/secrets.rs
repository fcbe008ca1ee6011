//! F27: secrets reach the peer, and nobody else.

use serde_json::json;

use crate::support::{Reply, Setup, Upstream, component};

/// In no other text of these tests.
const SECRET: &str = "canary-secret-5c0ffee";

#[test]
fn f27_a_secret_is_sent_and_neither_told_nor_logged() {
    // An upstream that tells everything that it was told.
    let upstream = Upstream::start(|_, request| {
        let told = request.header("Authorization").unwrap_or_default().to_owned();
        Reply::Answer(200, "X-Echo: Bearer canary-secret-5c0ffee\r\n", told)
    });
    let config = format!(
        "[[components]]\npath = {:?}\n[[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n\
         headers = {{ Authorization = \"Bearer ${{PEER_TOKEN}}\" }}\n",
        component("probe"),
        upstream.origin()
    );
    let mut server = Setup::of(&[])
        .config("tether.toml", &config)
        .env("PEER_TOKEN", SECRET)
        .env("TETHER_LOG", "trace")
        .start();
    let api = server.api.clone();
    let url = upstream.url("/x?token=canary-query");

    let read = api.call("probe_send", &json!({ "url": url }).to_string());
    read.check("200 Succeeded");
    let fetched = api.call("probe_fetch", &json!({ "url": url }).to_string());
    fetched.check("200 Succeeded");
    let id = api.propose("probe_send_write", &json!({ "url": url, "method": "POST" }).to_string());
    let written = api.confirm(&id, "{}");
    written.check("200 Succeeded");
    // A guest that names the header itself is refused.
    let own = json!({ "url": url, "headers": { "authorization": "Bearer mine" } }).to_string();
    api.call("probe_send", &own).check("502 DESTINATION_DENIED");

    let received = upstream.received();
    assert_eq!(received.len(), 3);
    let sent = format!("Bearer {SECRET}");
    assert!(received.iter().all(|request| request.header("Authorization") == Some(&sent)), "{received:?}");
    for told in [read, fetched, written, api.action(&id), api.get("/v1/tools")] {
        assert!(!told.text.contains(SECRET), "{}", told.text);
    }
    server.kill();
    let log = server.log().whole();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "it is a log of everything:\n{log}");
    for canary in [SECRET, "canary-query", &api.token] {
        assert!(!log.contains(canary), "{canary} is in the log:\n{log}");
    }
}

#[test]
fn a_secret_that_is_missing_is_told_at_the_start_by_its_name() {
    let config = format!(
        "[[components]]\npath = {:?}\n[[components.outbound]]\norigin = \"https://a.test\"\n\
         headers = {{ Authorization = \"Bearer ${{NO_SUCH_TOKEN}}\" }}\n",
        component("probe")
    );
    Setup::of(&[]).config("tether.toml", &config).refused().check(2, &["NO_SUCH_TOKEN", "outbound"]);
}
