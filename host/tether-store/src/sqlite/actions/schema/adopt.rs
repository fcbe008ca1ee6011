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

/// Where the chains end so far.
type Heads = BTreeMap<TenantId, (u64, Digest)>;

/// Chains everything that is in the table `unchained`, in the order in which the actions
/// were proposed, and drops it. What the rows hold today is what they are bound to from
/// now on.
pub(super) fn chain_history(connection: &Connection) -> anyhow::Result<()> {
    let mut heads = Heads::new();
    {
        let mut statement = connection.prepare(
            "SELECT action, revision, at, actor, NULL AS channel, was, became, attempt, detail FROM unchained
             ORDER BY action, revision",
        )?;
        let mut rows = statement.query([])?;
        let mut told: Option<Told> = None;
        while let Some(row) = rows.next()? {
            let number = row.get("action")?;
            if told.as_ref().is_some_and(|told| told.0 != number)
                && let Some(told) = told.take()
            {
                chain(connection, told, &mut heads)?;
            }
            if let Some(event) = sound(number, read(row))? {
                told.get_or_insert((number, Vec::new())).1.push(event);
            }
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

fn read(row: &Row<'_>) -> anyhow::Result<(Revision, HistoryEvent)> {
    Ok((Revision(row.get::<_, i64>("revision")?.try_into()?), history::event(row, 2)?))
}

/// What could be read. One damaged row must not keep a host from starting: what is left
/// out cannot be confirmed, and is found by whoever checks the file.
fn sound<T>(row: i64, read: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match read {
        Err(error) if !error.is::<rusqlite::Error>() => {
            tracing::error!(row, %error, "of an old history something is left out");
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn chain(connection: &Connection, (number, mut events): Told, heads: &mut Heads) -> anyhow::Result<()> {
    let place = history::place_of(connection, number);
    let Some(Place { id, tenant, status, attempts }) = sound(number, place)? else { return Ok(()) };
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
        let (proposal, confirm_key) = (digest, None);
        let link = Link { number, action, tenant, revision, event, proposal, state, confirm_key };
        let head = match heads.get(tenant) {
            Some(head) => *head,
            None => history::head(connection, tenant)?,
        };
        heads.insert(tenant.clone(), history::insert_after(connection, head, &link)?);
    }
    Ok(())
}
