//! `tether mcp`: a running gateway's `/mcp` on standard input and output.
//!
//! It is a bridge and not another gateway: one process has the data folder, and people decide
//! in its inbox. Messages pass in both directions to the letter.

mod bridge;
mod events;
mod failure;
mod input;
mod line;
mod listen;
mod messages;
mod open;
mod outcome;
mod output;
mod requests;
mod session;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::io::BufReader;
use tokio::time::timeout;

use super::gateway::Address;
use super::serve::Signals;
use bridge::Bridge;
use input::Input;
use requests::Requests;

/// How long the session may take to be ended, and the last messages to be read.
const LAST: Duration = Duration::from_secs(1);

/// Speak MCP on standard input and output, for agents of a running gateway
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Mcp {
    #[command(flatten)]
    gateway: Address,
}

const EXAMPLE: &str = "\
Example, in a client's configuration:
  {\"mcpServers\": {\"tether\": {\"command\": \"tether\", \"args\": [\"mcp\", \"--data-dir\", \"/srv/tether-data\"]}}}";

impl Mcp {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let mut signals = Signals::new()?;
        let client = self.gateway.client()?;
        let (out, mut written) = output::start(tokio::io::stdout());
        let bridge = Arc::new(Bridge::new(client, out)?);
        let mut requests = Requests::new(Arc::clone(&bridge));
        let input = Input::new(BufReader::new(tokio::io::stdin()));
        let is_heard = tokio::select! {
            served = requests.serve(input) => {
                served.context("standard input cannot be read")?;
                true
            }
            () = signals.next() => true,
            // The client reads no more.
            _ = &mut written => false,
        };
        requests.give_up().await;
        let _ = timeout(LAST, bridge.end_session()).await;
        let failed = is_heard && bridge.outcome.has_failed();
        // What was still to be written is.
        drop(bridge);
        if is_heard {
            let _ = timeout(LAST, written).await;
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
