//! `tether actions history`.

use std::process::ExitCode;

use tether_core::id::ActionId;
use tether_core::plain::{shown, shown_name};

use crate::cli::gateway::{Connection, read};
use crate::cli::say;
use crate::wire::seen::SeenHistory;

/// Tell what happened to an action, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct History {
    /// The action
    id: ActionId,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Example:
  tether actions history 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";

impl History {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let gateway = self.gateway.open()?;
        let answer = gateway.get(&format!("v1/actions/{}/history", self.id)).await?;
        if gateway.json() {
            say(&answer.body);
            return Ok(ExitCode::SUCCESS);
        }
        let history: SeenHistory = read(&answer)?;
        for event in &history.events {
            let actor = shown_name(event.actor.as_deref().unwrap_or("tether"));
            let [at, to, detail] = [&event.at, &event.to, &event.detail].map(|text| shown(text));
            let channel = event.channel.as_deref().map(|channel| format!(" ({})", shown(channel)));
            say(format!("{at}  {to:<9}  {actor}{}: {detail}", channel.unwrap_or_default()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
