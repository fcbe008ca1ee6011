//! Previews: what a person is shown beside the arguments.

use serde_json::{Value, json};

use crate::support::{Server, Setup};

fn propose(server: &Server, text: &str, then: &str) -> crate::support::Answer {
    server.api.call("probe_preview", &json!({ "text": text, "then": then }).to_string())
}

#[test]
fn a_preview_that_refuses_refuses_the_proposal() {
    let server = Setup::of(&["probe", "tickets"]).start();
    let refused = server.api.call("void_ticket", r#"{"ticket_id":41}"#);
    assert_eq!(refused.check("422 REFUSED").str("handlerCode"), "TICKET_NOT_OPEN");
    assert_eq!(propose(&server, "", "refuse").check("422 REFUSED").str("handlerCode"), "PROBE_REFUSED");
    propose(&server, "", "fail").check("502 HANDLER_FAILED");
    propose(&server, "", "transient").check("503 UPSTREAM_UNAVAILABLE");
    assert_eq!(server.api.get("/v1/actions").raw("actions"), "[]");
}

#[test]
fn a_preview_that_breaks_is_left_out_and_said_to_be() {
    let server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "0.5").start();
    for then in ["trap", "spin", "sleep:60000"] {
        let action = propose(&server, "never shown", then);
        action.check("202 Pending");
        assert_eq!(action.body["preview"], Value::Null, "{then}");
        assert!(!action.str("previewError").is_empty(), "{then}");
    }
}

#[test]
fn a_preview_has_a_reads_rights() {
    let server = Setup::of(&["probe"]).start();
    let action = propose(&server, "changed something", "sneak");
    assert_ne!(action.str("preview"), "changed something");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_preview_is_plain_text_of_a_thousand_characters() {
    let server = Setup::of(&["probe"]).start();
    let escaped = propose(&server, "a\u{1b}[2Jb\n\u{202e}c", "ok").str("preview").to_owned();
    assert!(!escaped.chars().any(|character| character.is_control() || character == '\u{202e}'), "{escaped}");
    let long = propose(&server, &"ü".repeat(5000), "ok");
    assert_eq!(long.str("preview").chars().count(), 1000);
}
