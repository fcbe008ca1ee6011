//! `tether actions decline`.

use std::process::ExitCode;

use tether_core::id::ActionId;

use crate::cli::gateway::{Connection, read};
use crate::cli::{say, show};
use crate::wire::seen::{SeenAction, decline_body};

/// Decline an action: it never runs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Decline {
    /// The action
    id: ActionId,

    /// Why, for the history
    #[arg(long)]
    reason: Option<String>,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Example:
  tether actions decline 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918 --reason 'wrong ticket'";

impl Decline {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let gateway = self.gateway.open()?;
        let path = format!("v1/actions/{}/decline", self.id);
        let body = decline_body(self.reason.as_deref());
        // Declined twice is declined.
        let answer = gateway.post_repeatable(&path, &body, &[]).await?;
        let answer = if answer.status == 409 { answer } else { gateway.success(answer)? };
        let action: SeenAction = read(&answer)?;
        let declined = action.status == "Declined";
        say(if gateway.json() { answer.body } else { show::whole(&action) });
        Ok(if declined { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
