//! Forms that count, of a client that goes on over a restart of the gateway.

use serde_json::{Value, json};

use super::Bridge;
use crate::mcp::BOTH;
use crate::support::Setup;

/// What a person says to what was asked.
fn says(asked: &Value, decision: &str) -> String {
    let result = json!({"action": "accept", "content": {"decision": decision}});
    json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string()
}

#[test]
fn an_answer_to_a_form_of_before_a_restart_decides_nothing_of_what_is_asked_after_it() {
    let rule = "[[rules]]\ntool = \"probe_write\"\nform_confirms = true\n";
    let mut server = Setup::of(&["probe"]).config("tether.toml", rule).start();
    let url = format!("http://{}", server.api.address);
    let mut bridge = Bridge::at(&url, &server.api.token, BOTH[0]);
    bridge.begin(&json!({"elicitation": {"form": {}}}));
    let [wanted, unwanted] =
        ["wanted", "not"].map(|note| bridge.start("probe_write", &format!(r#"{{"note":"{note}"}}"#)));
    let mut forms = || [0, 1].map(|_| bridge.told("elicitation/create").message);
    let old = forms();
    server.restart_where_it_was();
    // The bridge has sent the calls again, about which somebody is asked anew, in any order.
    let new = forms();

    for asked in &old {
        bridge.line(&says(asked, "confirm"));
    }
    // Sent after the answers, and answered.
    bridge.ask("tools/list", "").result();
    assert!(server.effects().is_empty());
    let pending = server.api.get("/v1/actions?status=Pending");
    assert_eq!(pending.body["actions"].as_array().map(Vec::len), Some(2));

    for asked in &new {
        let is_wanted = asked["params"]["message"].to_string().contains("wanted");
        bridge.line(&says(asked, if is_wanted { "confirm" } else { "decline" }));
    }
    assert!(bridge.answer(wanted).said().starts_with("Done."));
    assert!(bridge.answer(unwanted).said().starts_with("A person said no."));
    let notes: Vec<_> = server.effects().into_iter().map(|effect| effect.note).collect();
    assert_eq!(notes, ["wanted"]);
}
