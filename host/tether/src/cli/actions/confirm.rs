//! `tether actions confirm`.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use tether_core::id::ActionId;

use crate::cli::gateway::{self, Connection, Gateway};
use crate::cli::{Usage, say, show};
use crate::wire::seen::{SeenAction, confirm_body};

/// Confirm an action: it is shown, then it runs, once
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Confirm {
    /// The action
    id: ActionId,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    gateway: Connection,
}

const EXAMPLE: &str = "\
Examples:
  tether actions confirm 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918
  tether actions confirm 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918 --yes --json";

impl Confirm {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let somebody_is_there = io::stdin().is_terminal() && io::stderr().is_terminal();
        if !self.yes && !somebody_is_there {
            let advice = "without a terminal there is nobody to ask; look at it with `tether actions show`, then add --yes";
            return Err(Usage(advice.to_owned()).into());
        }
        let gateway = self.gateway.open()?;
        let action = super::load(&gateway, self.id).await?;
        if !gateway.json() {
            eprintln!("{}", show::whole(&action));
        }
        let key = match action.status.as_str() {
            "Pending" if self.yes || agreed().await? => Some(gateway::fresh_key()?),
            "Pending" => {
                eprintln!("nothing was done; `tether actions decline {}` ends it for good", self.id);
                return Ok(ExitCode::FAILURE);
            }
            // It has ended for good: nothing can run any more, and without a key the
            // gateway tells again what it came to.
            "Succeeded" | "Failed" => None,
            status => return Err(anyhow!("it is {status}: there is nothing to confirm")),
        };
        let outcome = confirm(&gateway, &action, key.as_deref()).await?;
        let approved = outcome.status == "Pending" && outcome.error_code.is_none();
        if approved && !gateway.json() {
            eprintln!("approved; {}", still_missing(&outcome));
        }
        let done = approved || matches!(outcome.status.as_str(), "Succeeded" | "Replayed");
        Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The key makes a second arrival of this request a repetition, and
/// `attemptsUsed` keeps it from being a second attempt: so it can be sent again
/// when its answer is lost.
async fn confirm(gateway: &Gateway, action: &SeenAction, key: Option<&str>) -> anyhow::Result<SeenAction> {
    let body = confirm_body(key, action.attempts_used);
    let path = format!("v1/actions/{}/confirm", action.action_id);
    let answer = gateway.post_repeatable(&path, &body, &[]).await?;
    // A conflict is an outcome, told by the same object; a problem is none.
    let outcome = match gateway::read::<SeenAction>(&answer) {
        Ok(outcome) => outcome,
        Err(unreadable) => {
            gateway.success(answer)?;
            return Err(unreadable);
        }
    };
    say(if gateway.json() { answer.body } else { show::whole(&outcome) });
    Ok(outcome)
}

/// Whose yes an action that was approved waits for.
fn still_missing(action: &SeenAction) -> String {
    let have = u32::try_from(action.approvals.len()).unwrap_or(u32::MAX);
    match action.approvals_needed.saturating_sub(have) {
        1 => "nothing ran yet: it takes the yes of another person".to_owned(),
        more => format!("nothing ran yet: it takes the yes of {more} other persons"),
    }
}

/// Asks the person. Anything but a yes is a no.
async fn agreed() -> anyhow::Result<bool> {
    eprint!("confirm? [y/N] ");
    io::stderr().flush()?;
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = answer.await?.context("the answer cannot be read")?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
