//! `tether actions show`.

use std::process::ExitCode;

use tether_core::id::ActionId;

use crate::cli::gateway::{Connection, read};
use crate::cli::{say, show};

/// Show an action, with what it was seen to do
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Show {
    /// The action
    id: ActionId,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Example:
  tether actions show 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";

impl Show {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let gateway = self.gateway.open()?;
        let answer = gateway.get(&format!("v1/actions/{}", self.id)).await?;
        say(if gateway.json() { answer.body } else { show::whole(&read(&answer)?) });
        Ok(ExitCode::SUCCESS)
    }
}
