//! Requests that handlers send: the policy table against a real upstream that counts.

mod crash;
mod policy;
mod secrets;
mod writes;

use serde_json::{Value, json};

use crate::support::{Answer, Server, Setup, Upstream, component};

/// A gateway whose `probe` may reach `upstream`, with this much time for each try.
fn gateway(upstream: &Upstream, timeout_seconds: &str) -> Setup {
    let config = format!(
        "[tool_transport]\ntimeout_seconds = {timeout_seconds}\n\
         [[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
        component("probe"),
        upstream.origin()
    );
    Setup::of(&[]).config("tether.toml", &config)
}

/// The arguments of a tool of `probe` that sends.
fn outgoing(method: &str, url: &str, more: Value) -> String {
    let mut arguments = json!({ "method": method, "url": url });
    let more = more.as_object().expect("an object").clone();
    arguments.as_object_mut().expect("an object").extend(more);
    arguments.to_string()
}

/// Proposes a write that sends a POST, and confirms it; the action's id and what the
/// person was told.
#[track_caller]
fn confirmed(server: &Server, tool: &str, arguments: &str) -> (String, Answer) {
    let id = server.api.propose(tool, arguments);
    let told = server.api.confirm(&id, "{}");
    (id, told)
}
