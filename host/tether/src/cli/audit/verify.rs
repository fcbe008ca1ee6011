//! One check of a whole data folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tether_core::action::{Action, Status};
use tether_core::audit::{Auditor, Case, Finding, Rule};
use tether_core::chain::Head;
use tether_core::clock::Clock as _;
use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::TenantId;
use tether_core::plain::shown;
use tether_core::port::databases::{Databases, Record, Scope, SqlLimits, Unreachable};
use tether_store::{Archive, Damaged, Kept, SqliteDatabases};
use tokio::time::Instant;

use super::chain::{self, Histories};
use super::erased;
use super::export::Export;
use super::records;
use crate::clock::SystemClock;
use crate::data_folder::DataFolder;

/// Actions that are read in one go.
const PAGE: usize = 500;

/// How often it is said how far the check has come.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// What the check came to.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) events: u64,
    pub(super) actions: u64,
    /// Those that the next start of the gateway settles.
    pub(super) executing: u64,
    /// Where each history ends.
    pub(super) heads: Vec<Head>,
    pub(super) findings: Vec<Line>,
}

/// One finding: of a place in a history, of an action, or of both. A row may be so damaged
/// that its id is none.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) tenant: Option<String>,
    pub(super) place: Option<u64>,
    pub(super) action: Option<String>,
    pub(super) rule: &'static str,
    pub(super) what: String,
}

/// Says now and then how far it has come.
pub(super) struct Progress {
    what: &'static str,
    of: u64,
    done: u64,
    told: Instant,
}

impl Progress {
    pub(super) fn new(what: &'static str, of: u64) -> Self {
        Self { what, of, done: 0, told: Instant::now() }
    }

    pub(super) fn one_more(&mut self) {
        self.done += 1;
        if self.told.elapsed() >= TOLD_EVERY {
            eprintln!("{} of {} {} checked …", self.done, self.of, self.what);
            self.told = Instant::now();
        }
    }

    pub(super) fn done(&self) -> u64 {
        self.done
    }
}

/// Checks the folder at `path`, and tells each finding when it is found. The histories go
/// on from `witnesses`, and are written to `export`, whatever is found; not where this fails.
pub(super) async fn verify(
    path: &Path,
    witnesses: Vec<Head>,
    export: Option<&Path>,
    mut tell: impl FnMut(&Line),
) -> anyhow::Result<Report> {
    let file = path.join("actions.db");
    // Nothing is made where there is nothing.
    anyhow::ensure!(
        file.is_file(),
        "{} is no data folder: it has no actions.db; --data-dir names another",
        path.display()
    );
    let folder = DataFolder::take(path)?;
    let cannot = || format!("{} cannot be read", file.display());
    let mut archive = Archive::open(&file)?;
    let mut export = export.map(|path| Export::begin(path, folder.path())).transpose()?;
    let mut findings = Vec::new();
    let mut find = |line: Line| {
        tell(&line);
        findings.push(line);
    };
    let Histories { events, heads } =
        chain::check(&archive, witnesses, &mut export, &mut find).with_context(cannot)?;

    let databases = SqliteDatabases::new(folder.path(), SqlLimits::default());
    let (mut auditor, mut executing, now) = (Auditor::default(), 0, SystemClock::new().now());
    let mut progress = Progress::new("actions", archive.count().with_context(cannot)?);
    loop {
        let page = archive.next_page(PAGE).with_context(cannot)?;
        if page.is_empty() {
            break;
        }
        for kept in page {
            match kept {
                Ok(kept) => {
                    executing += u64::from(kept.action.state.status() == Status::Executing);
                    if !kept.fits {
                        find(Line::of(
                            &kept.action,
                            chain::RULE,
                            "it is stored as another than its history says",
                        ));
                    }
                    let due = kept.records_due;
                    let case = case(&databases, kept).await;
                    if let Some(what) = erased::wrong(&case.action, due, &case.records, now) {
                        find(Line::of(&case.action, Rule::EndAgrees.as_str(), what));
                    }
                    auditor.check(&case).into_iter().map(Line::from).for_each(&mut find);
                }
                Err(damaged) => find(damaged.into()),
            }
            progress.one_more();
        }
    }
    records::check(&databases, &archive, &mut find).await?;
    if let Some(export) = export {
        export.finish()?;
    }
    Ok(Report { events, actions: progress.done(), executing, heads, findings })
}

async fn case(databases: &dyn Databases, kept: Kept) -> Case {
    let Kept { action, history, key_names, fits: _, records_due: _ } = kept;
    let records = records_of(databases, &action).await;
    Case { action, history, records, key_names, seen: None }
}

/// What the databases hold that the action was bound to. An endpoint keeps its own
/// record, where nobody here can look.
pub(super) async fn records_of(
    databases: &dyn Databases,
    action: &Action,
) -> Result<Vec<Record>, Unreachable> {
    let Binding::Component(bound) = &action.proposal.binding else { return Ok(Vec::new()) };
    databases.records(&scope(&action.proposal.tenant, bound), action.id.into()).await
}

/// What an action of `tenant` may touch that is `bound` so.
pub(super) fn scope(tenant: &TenantId, bound: &BoundComponent) -> Scope {
    Scope {
        tenant: tenant.clone(),
        component: bound.component.clone(),
        grants: bound.grants.clone(),
        // Records are found without.
        migrations: Arc::default(),
    }
}

impl From<Finding> for Line {
    fn from(Finding { action, rule, what }: Finding) -> Self {
        Self { tenant: None, place: None, action: Some(action.to_string()), rule: rule.as_str(), what }
    }
}

impl From<Damaged> for Line {
    fn from(Damaged { id, what }: Damaged) -> Self {
        let what = format!("it was changed in the store: {what}");
        Self { tenant: None, place: None, action: Some(id), rule: Rule::Readable.as_str(), what }
    }
}

impl Line {
    fn of(action: &Action, rule: &'static str, what: &str) -> Self {
        Self {
            tenant: Some(action.proposal.tenant.to_string()),
            place: None,
            action: Some(action.id.to_string()),
            rule,
            what: what.to_owned(),
        }
    }

    pub(super) fn in_words(&self) -> String {
        let action = self.action.as_ref().map(|action| format!("action {}", shown(action)));
        let place = match (&self.tenant, self.place) {
            (Some(tenant), Some(place)) => Some(format!("the history of {}, place {place}", shown(tenant))),
            (Some(tenant), None) if action.is_none() => Some(format!("tenant {}", shown(tenant))),
            _ => None,
        };
        let subject: Vec<_> = place.into_iter().chain(action).collect();
        let subject = if subject.is_empty() { "the histories".to_owned() } else { subject.join(", ") };
        format!("{subject}: {} ({})", shown(&self.what), self.rule)
    }
}

impl Report {
    pub(super) fn in_words(&self) -> String {
        let Self { events, actions, heads, findings, .. } = self;
        let note = self.note().map(|note| format!("\nnote: {note}")).unwrap_or_default();
        let ends = heads.iter().map(|Head { tenant, place, hash }| {
            format!("the history of {} ends at place {place} with {hash}\n", shown(tenant.as_str()))
        });
        let ends: String = ends.collect();
        match findings.len() {
            0 => format!("{ends}all is well: {actions} actions and {events} events checked{note}"),
            found => format!("{ends}{found} findings in {actions} actions and {events} events{note}"),
        }
    }

    /// What is no finding, and has to be known to read the report, or what was exported.
    pub(super) fn note(&self) -> Option<String> {
        let executing = match self.executing {
            0 => return None,
            1 => "1 action is executing".to_owned(),
            many => format!("{many} actions are executing"),
        };
        Some(format!(
            "{executing}, as the gateway left it. The next start settles what it came to; until then its history, \
             also in an export, ends with Executing"
        ))
    }
}
