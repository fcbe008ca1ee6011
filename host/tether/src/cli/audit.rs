//! `tether audit`: whether what a data folder holds is right.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Subcommand;
use tether_core::action::{Action, Status};
use tether_core::audit::{Auditor, Case, Finding, Rule};
use tether_core::grant::Binding;
use tether_core::plain::shown;
use tether_core::port::databases::{Databases, Record, Scope, SqlLimits, Unreachable};
use tether_store::{Archive, Damaged, Kept, SqliteDatabases};
use tokio::time::Instant;

use super::say;
use crate::data_folder::DataFolder;

/// Check what a gateway left in its data folder
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLE)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  tether audit verify --data-dir tether-data";

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Verify),
}

/// Check every action against its history and its records
///
/// One effect at most for each action, every success recorded, every move allowed,
/// nothing from nowhere. Takes the folder's lock, so that nothing moves meanwhile: stop
/// the gateway first. Changes nothing. Exit code 0 where all is well, 1 where it is not.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
struct Verify {
    /// The folder that holds everything that a gateway keeps
    #[arg(long, value_name = "DIR", env = "TETHER_DATA_DIR", default_value = "tether-data")]
    data_dir: PathBuf,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

/// Actions that are read in one go.
const PAGE: usize = 500;

/// How often it is said how far the check has come.
const TOLD_EVERY: Duration = Duration::from_secs(1);

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let Command::Verify(command) = self.command;
        command.run().await
    }
}

impl Verify {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let report = verify(&self.data_dir, |line| {
            if !self.json {
                say(line.in_words());
            }
        })
        .await?;
        if self.json {
            let finding = |line: &Line| serde_json::json!({ "actionId": line.action, "rule": line.rule.as_str(), "what": line.what });
            let findings: Vec<_> = report.findings.iter().map(finding).collect();
            let (actions, executing) = (report.actions, report.executing);
            let told =
                serde_json::json!({ "actions": actions, "executing": executing, "findings": findings });
            say(told.to_string());
        } else {
            say(report.in_words());
        }
        Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What the check came to.
#[derive(Debug, Default)]
struct Report {
    actions: u64,
    /// Those that the next start of the gateway settles.
    executing: u64,
    findings: Vec<Line>,
}

/// One finding. A row may be so damaged that its id is none.
#[derive(Debug)]
struct Line {
    action: String,
    rule: Rule,
    what: String,
}

/// Checks the folder at `path`, and tells each finding when it is found.
async fn verify(path: &Path, mut tell: impl FnMut(&Line)) -> anyhow::Result<Report> {
    let file = path.join("actions.db");
    // Nothing is made where there is nothing.
    anyhow::ensure!(
        file.is_file(),
        "{} is no data folder: it has no actions.db; --data-dir names another",
        path.display()
    );
    let folder = DataFolder::take(path)?;
    let mut archive = Archive::open(&file)?;
    let databases = SqliteDatabases::new(folder.path(), SqlLimits::default());
    let count = archive.count().with_context(|| format!("{} cannot be read", file.display()))?;

    let (mut auditor, mut report) = (Auditor::default(), Report::default());
    let mut told = Instant::now();
    loop {
        let page = archive.next_page(PAGE).with_context(|| format!("{} cannot be read", file.display()))?;
        if page.is_empty() {
            return Ok(report);
        }
        for kept in page {
            let lines = match kept {
                Ok(kept) => {
                    report.executing += u64::from(kept.action.state.status() == Status::Executing);
                    let case = case(&databases, kept).await;
                    auditor.check(&case).into_iter().map(Line::from).collect()
                }
                Err(damaged) => vec![Line::from(damaged)],
            };
            lines.iter().for_each(&mut tell);
            report.findings.extend(lines);
            report.actions += 1;
            if told.elapsed() >= TOLD_EVERY {
                eprintln!("{} of {count} actions checked …", report.actions);
                told = Instant::now();
            }
        }
    }
}

async fn case(databases: &dyn Databases, kept: Kept) -> Case {
    let Kept { action, history, key_names } = kept;
    let records = records(databases, &action).await;
    Case { action, history, records, key_names, seen: None }
}

/// What the databases hold that the action was bound to. An endpoint keeps its own
/// record, where nobody here can look.
async fn records(databases: &dyn Databases, action: &Action) -> Result<Vec<Record>, Unreachable> {
    let Binding::Component(bound) = &action.proposal.binding else { return Ok(Vec::new()) };
    let scope = Scope {
        tenant: action.proposal.tenant.clone(),
        component: bound.component.clone(),
        grants: bound.grants.clone(),
        // Records are found without.
        migrations: Arc::default(),
    };
    databases.records(&scope, action.id.into()).await
}

impl From<Finding> for Line {
    fn from(Finding { action, rule, what }: Finding) -> Self {
        Self { action: action.to_string(), rule, what }
    }
}

impl From<Damaged> for Line {
    fn from(Damaged { id, what }: Damaged) -> Self {
        Self { action: id, rule: Rule::Readable, what: format!("it was changed in the store: {what}") }
    }
}

impl Line {
    fn in_words(&self) -> String {
        format!("action {}: {} ({})", shown(&self.action), shown(&self.what), self.rule.as_str())
    }
}

impl Report {
    fn in_words(&self) -> String {
        let Self { actions, executing, findings } = self;
        let unsettled = match executing {
            0 => String::new(),
            _ => format!(", {executing} of them executing: the next start of the gateway settles them"),
        };
        match findings.len() {
            0 => format!("all is well: {actions} actions checked{unsettled}"),
            found => format!("{found} findings in {actions} actions{unsettled}"),
        }
    }
}
