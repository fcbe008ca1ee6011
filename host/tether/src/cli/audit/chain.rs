//! The histories of a data folder, each checked as a chain, and the keys of confirmations.

use tether_core::audit::Keys;
use tether_core::chain::{Broken, Checker, Head};
use tether_core::port::announcements::Announced;
use tether_store::{Archive, Chained, Damaged};

use super::export::Export;
use super::order::Order;
use super::verify::{Line, Progress};

/// The word for what a chain shows, beside those of the other rules.
pub(super) const RULE: &str = "chain";

/// What the histories came to.
pub(super) struct Histories {
    pub(super) events: u64,
    /// Where each ends.
    pub(super) heads: Vec<Head>,
}

/// Checks every history against the heads that the file keeps and against `witnesses`, and
/// the keys that are bound to actions against the histories; `tell` is told of each break.
/// Writes every event to `export`, which is not finished by that. Keeps in memory what [`Keys`]
/// does, and nothing else that grows.
pub(super) fn check(
    archive: &Archive,
    witnesses: Vec<Head>,
    export: &mut Option<Export>,
    tell: &mut impl FnMut(Line),
) -> anyhow::Result<Histories> {
    let mut checker = Checker::with_witnesses(witnesses);
    let (mut keys, mut order) = (Keys::default(), Order::default());
    let mut progress = Progress::new("events", archive.count_events()?);
    archive.events(|event| {
        match event {
            Ok(event) => {
                let broken = checker.next(&event.line(), &event.announced.hash);
                let misplaced = order.next(&event);
                if let Some(broken) = broken.or_else(|| misplaced.map(|what| at(&event, what))) {
                    tell(broken.into());
                }
                keys.event(&event.line());
                if let Some(export) = export {
                    export.add(&event)?;
                }
            }
            Err(damaged) => {
                order.skip();
                tell(unreadable(damaged));
            }
        }
        progress.one_more();
        Ok(())
    })?;
    let heads = checker.heads();
    let mut kept = Vec::new();
    for head in archive.heads()? {
        match head {
            Ok(head) => kept.push(head),
            Err(damaged) => tell(no_head(damaged)),
        }
    }
    checker.end(&kept).into_iter().for_each(|broken| tell(broken.into()));
    archive.keys(|bound| {
        match bound {
            Ok(bound) => keys.bound(&bound).into_iter().for_each(|finding| tell(finding.into())),
            Err(damaged) => tell(unreadable(damaged)),
        }
        Ok(())
    })?;
    keys.end().into_iter().for_each(|finding| tell(finding.into()));
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

/// What is wrong where `event` is.
fn at(event: &Chained, what: String) -> Broken {
    let Announced { tenant, place, action, .. } = &event.announced;
    Broken { tenant: tenant.clone(), place: *place, action: Some(*action), what }
}

fn no_head(Damaged { id: tenant, what }: Damaged) -> Line {
    let what = format!("the head that is kept of it holds what was never written: {what}");
    Line { tenant: Some(tenant), place: None, action: None, rule: RULE, what }
}

fn unreadable(Damaged { id, what }: Damaged) -> Line {
    let what = format!("{id} holds what was never written: {what}");
    Line { tenant: None, place: None, action: None, rule: RULE, what }
}
