//! The command line of the MCP Inspector: a process for each request.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::installed::javascript;
use super::visit::{Over, bridge, page};
use crate::support::{NodeProject, Server, Setup, eventually};

/// The Inspector in front of a server.
struct Inspector {
    packages: &'static NodeProject,
    server: Server,
    over: Over,
    era: &'static str,
}

impl Inspector {
    /// None, and a printed reason, where it is not to be had.
    fn before_a_server(over: Over, era: &'static str) -> Option<Self> {
        Some(Self { packages: javascript()?, server: Setup::of(&["probe"]).start(), over, era })
    }

    fn command(&self, method: &str) -> Command {
        let program = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let mut command = self.packages.command(program, &[]);
        // It keeps files of its own there.
        command.env("HOME", self.server.setup.folder().path());
        command.arg("--cli");
        match self.over {
            Over::Http => {
                command.arg(format!("http://{}/mcp", self.server.api.address));
                command.args(["--transport", "http", "--header"]);
                command.arg(format!("Authorization: Bearer {}", self.server.api.token));
            }
            Over::Stdio => {
                let [program, arguments @ ..] = bridge(&self.server);
                let config = json!({"mcpServers": {"tether": {"command": program, "args": arguments}}});
                let config = self.server.setup.folder().file("inspector.json", config.to_string());
                command.arg("--config").arg(config).args(["--server", "tether"]);
            }
        }
        command.args(["--protocol-era", self.era, "--format", "json", "--quiet", "--method", method]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn call(&self, tool: &str, arguments: &Value) -> Command {
        let mut command = self.command("tools/call");
        command.args(["--tool-name", tool, "--tool-args-json", &arguments.to_string()]);
        command
    }

    fn propose(&self) -> Command {
        let mut command = self.call("probe_write", &json!({"note": "by the Inspector"}));
        command.args(["--tool-metadata", "tether/idempotencyKey=one"]);
        command
    }

    /// Says yes, as a person does over HTTP; the result.
    fn confirm(&self, action: &str) -> String {
        assert!(self.server.effects().is_empty());
        let done = self.server.api.confirm(action, "{}");
        done.check("200 Succeeded").raw("result").to_owned()
    }

    fn check_the_effect(&self, action: &str) {
        assert_eq!((self.server.effects_of(action), self.server.effects().len()), (1, 1));
    }
}

/// What it printed.
#[track_caller]
fn result(command: &mut Command) -> Value {
    let ran = command.output().expect("the Inspector can be run");
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    assert!(ran.status.success() && printed["result"].is_object(), "{ran:?}");
    printed["result"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn check_reads(inspector: &Inspector) {
    let list = result(&mut inspector.command("tools/list"));
    let tools = list["tools"].as_array().expect("a list");
    let echo = tools.iter().find(|tool| tool["name"] == "probe_echo").expect("it is there");
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    // It reads the numbers of its arguments in double precision, and sends what is left of them.
    let echo = result(&mut inspector.call("probe_echo", &json!({"n": 9_007_199_254_740_992_u64, "t": "👩‍🚀"})));
    assert_eq!(text(&echo), r#"{"n":9007199254740992,"t":"👩‍🚀"}"#);
    let big = result(&mut inspector.call("probe_big", &json!({"bytes": 250_000})));
    assert_eq!(text(&big).len(), 249_998);
}

fn check_a_session(over: Over) {
    let Some(inspector) = Inspector::before_a_server(over, "legacy") else { return };
    check_reads(&inspector);
    let [proposed, again] = [(); 2].map(|()| result(&mut inspector.propose()));
    let action = proposed["structuredContent"]["actionId"].as_str().expect("an action");
    assert_eq!(again["structuredContent"]["actionId"], action, "one key");
    assert_eq!(proposed["_meta"]["tether/inboxUrl"], page(&inspector.server, action));
    let given = inspector.confirm(action);
    let done = result(&mut inspector.call("tether_actions", &json!({"actionId": action})));
    assert_eq!(text(&done), format!("Done. Action {action} of probe_write ran once, and gave: {given}"));
    inspector.check_the_effect(action);
}

fn check_a_task(over: Over) {
    let Some(inspector) = Inspector::before_a_server(over, "modern") else { return };
    // It asks for tasks, and waits until this one is over.
    let waiting = inspector.propose().spawn().expect("the Inspector can be run");
    let api = &inspector.server.api;
    let action = eventually("it has proposed", || {
        let pending = api.get("/v1/actions?status=Pending");
        pending.body["actions"][0]["actionId"].as_str().map(str::to_owned)
    });
    let given = inspector.confirm(&action);
    let ran = waiting.wait_with_output().expect("it can be waited for");
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    let expected = format!("Done. Action {action} of probe_write ran once, and gave: {given}");
    assert_eq!(text(&printed["result"]), expected, "{ran:?}");
    inspector.check_the_effect(&action);
}

#[test]
fn the_inspector_in_a_session() {
    check_a_session(Over::Http);
    check_a_session(Over::Stdio);
}

#[test]
fn the_inspector_waits_for_its_task() {
    check_a_task(Over::Http);
    check_a_task(Over::Stdio);
}
