//! The histories of a data folder, each checked as a chain.

use tether_core::chain::{Broken, Checker, Head};
use tether_store::{Archive, Damaged};

use super::export::Export;
use super::verify::{Line, Progress};

/// The word for what a chain shows, beside those of the other rules.
pub(super) const RULE: &str = "chain";

/// What the histories came to.
pub(super) struct Histories {
    pub(super) events: u64,
    /// Where each ends.
    pub(super) heads: Vec<Head>,
}

/// Checks every history, in constant memory, against the heads that the file keeps and
/// against `witnesses`; `tell` is told of each break. Writes every event to `export`.
pub(super) fn check(
    archive: &Archive,
    witnesses: Vec<Head>,
    mut export: Option<Export>,
    tell: &mut impl FnMut(Line),
) -> anyhow::Result<Histories> {
    let mut checker = Checker::with_witnesses(witnesses);
    let mut progress = Progress::new("events", archive.count_events()?);
    archive.events(|event| {
        match event {
            Ok(event) => {
                if let Some(broken) = checker.next(&event.line(), &event.announced.hash) {
                    tell(broken.into());
                }
                if let Some(export) = &mut export {
                    export.add(&event)?;
                }
            }
            Err(damaged) => tell(unreadable(damaged)),
        }
        progress.one_more();
        Ok(())
    })?;
    if let Some(export) = export {
        export.finish()?;
    }
    let heads = checker.heads();
    checker.end(&archive.heads()?).into_iter().for_each(|broken| tell(broken.into()));
    Ok(Histories { events: progress.done(), heads })
}

impl From<Broken> for Line {
    fn from(Broken { tenant, place, action, what }: Broken) -> Self {
        Self {
            tenant: Some(tenant.to_string()),
            place: Some(place),
            action: action.map(|action| action.to_string()),
            rule: RULE,
            what,
        }
    }
}

fn unreadable(Damaged { id, what }: Damaged) -> Line {
    let what = format!("{id} holds what was never written: {what}");
    Line { tenant: None, place: None, action: None, rule: RULE, what }
}
