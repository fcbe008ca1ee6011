//! What changes actions. Each runs within a transaction of the writer.

use rusqlite::{Connection, OptionalExtension as _};
use tether_core::action::{Action, Claim, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::fault::{self, Point};
use tether_core::id::{ActionId, TenantId};
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, HistoryEvent, NewAction, Proposed, Swap};

use super::reads;
use crate::row::{self, Fault};

/// See `ActionStore::propose`.
pub(super) fn propose(connection: &Connection, new: &NewAction) -> Result<Proposed, Fault> {
    let proposal = &new.proposal;
    if let Some(key) = &new.key
        && let Some(before) = reads::proposed_with(connection, &proposal.tenant, &proposal.proposer, key)?
    {
        return Ok(Proposed::Before(before));
    }
    let action = row::insert(connection, new)?;
    let event = HistoryEvent {
        at: proposal.created_at,
        actor: Some(proposal.proposer.clone()),
        from: None,
        to: action.state.status(),
        attempt: 0,
        detail: "Proposed.".into(),
    };
    row::insert_event(connection, connection.last_insert_rowid(), action.revision, &event)?;
    fault::reached(Point::ProposalWritten);
    Ok(Proposed::New(action))
}

/// See `ActionStore::swap`.
pub(super) fn swap(connection: &Connection, change: &Change) -> Result<Swap, Fault> {
    let seen = &change.seen;
    let tenant = &seen.proposal.tenant;
    let Some((number, revision)) = row::revision(connection, tenant, seen.id)? else {
        return Ok(Swap::Gone);
    };
    if revision != seen.revision {
        let now = reads::action(connection, tenant, seen.id)?;
        return Ok(now.map_or(Swap::Gone, Swap::Stale));
    }
    if let State::Executing { claim, .. } = &change.state
        && !bind_key(connection, tenant, claim, number)?
    {
        return Ok(Swap::KeyTaken);
    }
    row::update(connection, number, change)?;
    let revision = Revision(revision.0 + 1);
    let event = HistoryEvent {
        at: change.at,
        actor: change.actor.clone(),
        from: Some(seen.state.status()),
        to: change.state.status(),
        attempt: change.state.attempts_used(),
        detail: change.detail.clone(),
    };
    row::insert_event(connection, number, revision, &event)?;
    fault::reached(Point::MoveWritten);
    let Action { id, proposal, .. } = seen.clone();
    Ok(Swap::Done(Action {
        id,
        revision,
        proposal,
        state: change.state.clone(),
        ledger: change.ledger.clone(),
    }))
}

/// Binds the claim's key, if it has one, to the action in row `number`; false where
/// it is bound to another one.
fn bind_key(connection: &Connection, tenant: &TenantId, claim: &Claim, number: i64) -> Result<bool, Fault> {
    let Some(key) = &claim.key else { return Ok(true) };
    let name = (tenant.as_str(), claim.by.as_str(), key.as_str());
    let bound: Option<i64> = connection
        .prepare_cached("SELECT action FROM confirm_keys WHERE tenant = ? AND person = ? AND key = ?")?
        .query_row(name, |row| row.get(0))
        .optional()?;
    if bound.is_none() {
        connection
            .prepare_cached("INSERT INTO confirm_keys (tenant, person, key, action) VALUES (?, ?, ?, ?)")?
            .execute((name.0, name.1, name.2, number))?;
    }
    Ok(bound.is_none_or(|bound| bound == number))
}

/// See `ActionStore::note`.
pub(super) fn note(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
    attempt: u32,
    ledger: &Ledger,
) -> Result<bool, Fault> {
    let noted = row::update_ledger(connection, tenant, id, attempt, ledger);
    fault::reached(Point::NoteWritten);
    noted
}

/// See `ActionStore::erase_outputs`. What is damaged is erased as well, though nobody
/// can tell any more where its records are: keeping a result too long is no answer to
/// that.
pub(super) fn erase_outputs(connection: &Connection, before: Timestamp, limit: usize) -> Result<(), Fault> {
    let mut erase = connection.prepare_cached(
        "UPDATE actions SET output = NULL, records_due = ?, revision = revision + 1 WHERE number = ?",
    )?;
    for found in reads::with_output(connection, before, limit)? {
        let due = found.action.is_ok().then_some(before.as_millis());
        erase.execute((due, found.number))?;
        fault::reached(Point::ErasureWritten);
    }
    Ok(())
}

/// See `ActionStore::set_records_due`.
pub(super) fn set_records_due(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
    due: Option<Timestamp>,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "UPDATE actions SET records_due = ? WHERE id = ? AND tenant = ? AND records_due IS NOT NULL",
        )?
        .execute((due.map(Timestamp::as_millis), id.to_string(), tenant.as_str()))?;
    fault::reached(Point::EmptyNoteWritten);
    Ok(())
}
