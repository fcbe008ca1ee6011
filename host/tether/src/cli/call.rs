//! `tether call`.

use std::process::ExitCode;

use tether_core::id::{IdempotencyKey, ToolName};
use tether_core::json::JsonText;
use tether_core::plain::shown;

use super::gateway::{self, Connection};
use super::{Usage, say, show};
use crate::wire::seen::{self, SeenAction, SeenAnswer};

/// Call a tool: a read runs, a write waits for a person
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Call {
    /// The tool
    tool: ToolName,

    /// Its arguments, as JSON
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,

    /// Makes a proposal repeatable: the same key gives the same action [default: a fresh one]
    #[arg(long)]
    key: Option<IdempotencyKey>,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Examples:
  tether call get_ticket --args '{\"ticket_id\": 42}'
  tether call void_ticket --args '{\"ticket_id\": 42}' --key order-7";

impl Call {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let arguments = JsonText::parse(self.args).map_err(|error| Usage(format!("--args: {error}")))?;
        let gateway = self.gateway.open()?;
        let key = match self.key {
            Some(key) => key.to_string(),
            None => gateway::fresh_key()?,
        };
        // A read can be repeated, and so can a proposal with its key.
        let path = format!("v1/tools/{}/calls", self.tool);
        let body = seen::call_body(arguments.as_str());
        let answer = gateway.post(&path, &body, &[("Idempotency-Key", &key)]).await?;
        if gateway.json() {
            say(&answer.body);
        } else if answer.status == 202 {
            let action: SeenAction = gateway::read(&answer)?;
            say(show::whole(&action));
            if action.status == "Pending" {
                say(format!("confirm it with: tether actions confirm {}", action.action_id));
            }
        } else {
            let read: SeenAnswer = gateway::read(&answer)?;
            say(shown(read.result.get()));
            if read.attempts > 1 {
                eprintln!("it took {} attempts", read.attempts);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
