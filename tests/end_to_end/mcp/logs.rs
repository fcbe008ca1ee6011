//! What clients send is in no log.

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::Setup;

/// In no other text of these tests.
const CANARY: &str = "canary-3c9a51";

#[test]
fn f27_no_log_holds_what_a_client_sent() {
    let mut server = Setup::of(&["probe"]).env("TETHER_LOG", "trace").start();
    for revision in BOTH {
        let mut client = Client::new(&server, revision);
        let note = format!(r#"{{"note":"{CANARY}"}}"#);
        assert!(client.call("probe_echo", &note).text.contains(CANARY));
        client.call("probe_panic", &format!(r#"{{"words":["{CANARY}"]}}"#)).code();
        client.call("probe_echo", &format!(r#"["{CANARY}"]"#)).code();
        client.call_with(&format!("{revision} {CANARY}"), "probe_write", &note).action();
        assert_eq!(client.call(CANARY, "{}").error(), -32602);
        assert_eq!(client.ask(CANARY, "").error(), -32601);
        client.ask("tools/list", &format!(r#""cursor":"{CANARY}""#)).error();
        client.ask("tasks/get", &format!(r#""taskId":"{CANARY}""#)).error();
        for body in [format!("{{{CANARY}"), format!(r#"{{"jsonrpc":"2.0","id":"{CANARY}","method":5}}"#)] {
            assert_eq!(client.post("x", None, &[], &body).status, 400);
        }
        // Before the handshake is over, rmcp quotes what comes.
        let hasty = format!(
            r#"{{"jsonrpc":"2.0","id":"{CANARY}","method":"initialize","params":{{"protocolVersion":"{CANARY}","capabilities":{{}},"clientInfo":{{"name":"{CANARY}","version":"1"}}}}}}"#
        );
        client.post("initialize", None, &[("Last-Event-ID", CANARY), ("Idempotency-Key", CANARY)], &hasty);
        for version in [CANARY, "2026-07-28"] {
            client.post("x", None, &[("MCP-Protocol-Version", version), ("Mcp-Method", CANARY)], &hasty);
        }
        client.session = Some(CANARY.to_owned());
        client.ask("tools/list", "");
    }
    let token = server.api.token.clone();
    server.kill();
    let log = server.log().whole();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "it is a log of everything:\n{log}");
    assert!(!log.contains(CANARY), "{log}");
    assert!(!log.contains(&token), "the token");
}
