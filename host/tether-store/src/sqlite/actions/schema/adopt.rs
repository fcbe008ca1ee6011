//! Takes the histories of before over into chains: SQLite knows no SHA-256.

use std::collections::BTreeMap;

use anyhow::Context as _;
use rusqlite::{Connection, Row};
use tether_core::action::{Revision, Status};
use tether_core::digest::Digest;
use tether_core::id::TenantId;
use tether_core::port::actions::HistoryEvent;

use crate::row::history::{self, Link, Place};
use crate::row::{proposal, state};

/// How an action stood after an event before its last one: nobody knows any more.
const UNKNOWN: Digest = Digest::from_bytes([0; 32]);

/// The events of one action: its row, and each event with the revision it led to.
type Told = (i64, Vec<(Revision, HistoryEvent)>);

/// Chains everything that is in the table `unchained`, in the order in which the actions
/// were proposed, and drops it. What the rows hold today is what they are bound to from
/// now on.
pub(super) fn chain_history(connection: &Connection) -> anyhow::Result<()> {
    let mut heads = BTreeMap::new();
    {
        let mut statement = connection.prepare(
            "SELECT action, revision, at, actor, NULL AS channel, was, became, attempt, detail FROM unchained
             ORDER BY action, revision",
        )?;
        let mut rows = statement.query([])?;
        let mut told: Option<Told> = None;
        while let Some(row) = rows.next()? {
            let (number, revision, event) = read(row)?;
            if told.as_ref().is_some_and(|told| told.0 != number)
                && let Some(told) = told.take()
            {
                chain(connection, told, &mut heads)?;
            }
            told.get_or_insert((number, Vec::new())).1.push((revision, event));
        }
        if let Some(told) = told {
            chain(connection, told, &mut heads)?;
        }
    }
    for (tenant, head) in heads {
        history::set_head(connection, &tenant, head)?;
    }
    connection.execute_batch("DROP TABLE unchained")?;
    Ok(())
}

fn read(row: &Row<'_>) -> anyhow::Result<(i64, Revision, HistoryEvent)> {
    let number = row.get("action")?;
    let event = history::event(row).with_context(|| format!("an event of action {number}"))?;
    Ok((number, Revision(row.get::<_, i64>("revision")?.try_into()?), event))
}

fn chain(
    connection: &Connection,
    (number, mut events): Told,
    heads: &mut BTreeMap<TenantId, (u64, Digest)>,
) -> anyhow::Result<()> {
    let Place { id, tenant, status, attempts } =
        history::place_of(connection, number).with_context(|| format!("the action {number}"))?;
    let standing = state::standing_of(connection, number)?.context("an event is of no action")?;
    if let Some((last, event)) = events.last()
        && last.0 + 1 == standing.revision.0
        && status == Status::Succeeded
    {
        // A result that was erased: that was no event then.
        let detail = "its result was erased".to_owned();
        let erased = HistoryEvent {
            at: event.at,
            actor: None,
            from: Some(status),
            to: status,
            attempt: attempts,
            detail,
        };
        events.push((standing.revision, erased));
    }
    let digest = proposal::proposal_digest(connection, number)?;
    let last = events.len();
    for (index, (revision, event)) in events.iter().enumerate() {
        let state = if index + 1 == last { standing.state } else { UNKNOWN };
        let (action, tenant, revision) = (id, &tenant, *revision);
        let link = Link { number, action, tenant, revision, event, proposal: digest, state };
        let head = match heads.get(tenant) {
            Some(head) => *head,
            None => history::head(connection, tenant)?,
        };
        heads.insert(tenant.clone(), history::insert_after(connection, head, &link)?);
    }
    Ok(())
}
