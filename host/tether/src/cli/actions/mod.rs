//! `tether actions`: what waits for a person, and the person's decision.

mod confirm;
mod decline;
mod history;
mod list;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use super::gateway::{Gateway, read};
use crate::wire::seen::SeenAction;

/// See actions, and decide about them
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLE)]
pub(super) struct Actions {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  tether actions list --status Pending
  tether actions confirm 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Show(show::Show),
    Confirm(confirm::Confirm),
    Decline(decline::Decline),
    History(history::History),
}

impl Actions {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::List(command) => command.run().await,
            Command::Show(command) => command.run().await,
            Command::Confirm(command) => command.run().await,
            Command::Decline(command) => command.run().await,
            Command::History(command) => command.run().await,
        }
    }
}

/// The action as it stands.
async fn load(gateway: &Gateway, id: tether_core::id::ActionId) -> anyhow::Result<SeenAction> {
    read(&gateway.get(&format!("v1/actions/{id}")).await?)
}
