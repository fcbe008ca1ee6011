//! Forms that count, about what may have been done already: a person sees it before the yes.

use serde_json::json;

use crate::mcp::client::{Client, STATELESS};
use crate::support::{Reply, Server, Setup, Upstream, component, eventually};

const TOOL: &str = "probe_send_write";

const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;

/// A gateway whose `probe` may reach `upstream`, and whose clients may decide about what it sends.
fn deciding_by_forms(upstream: &Upstream) -> Server {
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n\
         [[rules]]\ntool = \"{TOOL}\"\nform_confirms = true\n",
        component("probe"),
        upstream.origin()
    );
    Setup::of(&[]).config("tether.toml", &config).start()
}

#[test]
fn what_may_have_been_done_is_shown_again_after_a_kill_before_it_is_done_again() {
    let upstream = Upstream::start(|number, _| if number == 1 { Reply::Silence } else { Reply::ok("") });
    let mut server = deciding_by_forms(&upstream);
    let arguments = json!({"method": "POST", "url": upstream.url("/refunds")}).to_string();
    let proposed = Client::new(&server, STATELESS).call_with("k", TOOL, &arguments);
    let id = proposed.action();
    let person = server.api.begin_confirm(&id, "{}");
    eventually("it has left", || (upstream.received().len() == 1).then_some(()));
    server.restart();
    drop(person);
    let action = server.api.action(&id);
    assert_eq!((action.str("status"), action.str("effect")), ("Pending", "Unknown"));

    let client = Client::able(&server, &server.api.token, STATELESS, FORMS);
    let asked = client.call_with("k", TOOL, &arguments);
    let form = &asked.result()["inputRequests"]["decision"]["params"];
    let message = form["message"].as_str().unwrap_or_else(|| panic!("no form: {}", asked.text));
    for part in ["1 of 3 attempts are used", "may have been done already", action.str("check")] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(upstream.received().len(), 1, "nobody has said yes to another");
    let state = asked.result()["requestState"].as_str().expect("a state");
    let yes = r#"{"decision":{"action":"accept","content":{"decision":"confirm"}}}"#;
    let members =
        format!(r#""name":"{TOOL}","arguments":{arguments},"requestState":"{state}","inputResponses":{yes}"#);
    let done = client.ask_of("tools/call", Some(TOOL), &members);
    assert_eq!(done.result()["structuredContent"]["status"], "Succeeded", "{}", done.text);
    assert_eq!(upstream.received().len(), 2);
}
