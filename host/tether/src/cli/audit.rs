//! `tether audit`: whether what a data folder holds is right.

mod chain;
mod erased;
mod export;
mod heads;
mod order;
mod records;
#[cfg(test)]
mod tests;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;

use self::verify::{Line, Report, verify};
use super::say;

/// Check what a gateway left in its data folder
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLE)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Examples:
  tether audit verify --data-dir tether-data
  tether audit verify --export history.jsonl
  tether audit verify --heads history-of-last-month.jsonl";

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Verify),
}

/// Check every history, and every action against its history and its records
///
/// The history of each tenant is a chain: nothing of it was changed, dropped, added or
/// moved. One effect at most for each action, every success recorded, every move allowed,
/// nothing from nowhere. Takes the folder's lock, so that nothing moves meanwhile: stop
/// the gateway first. Changes nothing. Exit code 0 where all is well, 1 where it is not.
///
/// Whoever can write the file can write all of it anew. So keep the heads that this
/// prints, or an export, elsewhere, and check against them with --heads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
struct Verify {
    /// The folder that holds everything that a gateway keeps
    #[arg(long, value_name = "DIR", env = "TETHER_DATA_DIR", default_value = "tether-data")]
    data_dir: PathBuf,

    /// Write every event to this file as JSON Lines, in place of what is there once all
    /// was checked; `-` is standard output
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// What was kept earlier: an export, or what --json printed; the histories must go on
    /// from there
    #[arg(long, value_name = "FILE")]
    heads: Option<PathBuf>,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let Command::Verify(command) = self.command;
        command.run().await
    }
}

impl Verify {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let witnesses = match &self.heads {
            Some(path) => heads::read(path)
                .with_context(|| format!("the heads in {} cannot be read", path.display()))?,
            None => Vec::new(),
        };
        // Where the events go to standard output, words do not.
        let to_output = self.export.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let tell = |text: String| if to_output { eprintln!("{text}") } else { say(text) };
        let report = verify(&self.data_dir, witnesses, self.export.as_deref(), |line| {
            if !self.json {
                tell(line.in_words());
            }
        })
        .await?;
        if self.json {
            tell(json(&report))
        } else {
            tell(report.in_words())
        }
        Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn json(report: &Report) -> String {
    let finding = |line: &Line| {
        let Line { tenant, place, action, rule, what } = line;
        serde_json::json!({
            "tenant": tenant, "place": place, "actionId": action, "rule": rule, "what": what,
        })
    };
    let findings: Vec<_> = report.findings.iter().map(finding).collect();
    let heads: Vec<_> = report.heads.iter().map(heads::json).collect();
    let Report { events, actions, executing, .. } = report;
    serde_json::json!({
        "events": events, "actions": actions, "executing": executing, "heads": heads, "findings": findings,
        "note": report.note(),
    })
    .to_string()
}
