//! What changes actions. Each runs within a transaction of the writer.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _};
use tether_core::action::{Action, Claim, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::fault::{self, Point};
use tether_core::id::{ActionId, TenantId};
use tether_core::identity::Actor;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, HistoryEvent, Left, Mark, NewAction, Proposed, Seen, Swap};

use super::reads::{self, Found};
use crate::row::history::{self, Link};
use crate::row::state::{self, Standing};
use crate::row::{self, Fault, Inserted};
use crate::sqlite::execute;

/// See `ActionStore::propose`.
pub(super) fn propose(connection: &Connection, new: &NewAction) -> Result<Proposed, Fault> {
    let proposal = &new.proposal;
    if let Some(key) = &new.key
        && let Some(before) = reads::proposed_with(connection, &proposal.tenant, &proposal.proposer, key)?
    {
        return Ok(Proposed::Before(before));
    }
    if let Some(most) = new.max_open
        && reads::open_proposals(connection, proposal, most)? >= most
    {
        return Ok(Proposed::TooMany);
    }
    let Inserted { action, number, proposal: proposal_digest, state } = row::insert(connection, new)?;
    let event = HistoryEvent {
        at: proposal.created_at,
        actor: Some(Actor { user: proposal.proposer.clone(), channel: new.channel }),
        from: None,
        to: action.state.status(),
        attempt: 0,
        detail: "Proposed.".into(),
    };
    let link = Link {
        number,
        action: action.id,
        tenant: &proposal.tenant,
        revision: action.revision,
        event: &event,
        proposal: proposal_digest,
        state,
        confirm_key: None,
    };
    history::append(connection, &link)?;
    fault::reached(Point::ProposalWritten);
    Ok(Proposed::New(action))
}

/// See `ActionStore::swap`.
pub(super) fn swap(connection: &Connection, change: &Change) -> Result<Swap, Fault> {
    let seen = &change.seen;
    let tenant = &seen.proposal.tenant;
    let Some(standing) = state::standing(connection, tenant, seen.id)? else { return Ok(Swap::Gone) };
    if standing.revision != seen.revision {
        let now = reads::action(connection, tenant, seen.id)?;
        return Ok(now.map_or(Swap::Gone, Swap::Stale));
    }
    let number = standing.number;
    let (proposal, was_changed) = bound(connection, &standing)?;
    let confirmation = confirmation(change);
    if let Some(claim) = confirmation {
        // What runs is what was shown, to the person and to those who approved before.
        if was_changed || proposal != row::proposal::proposal_digest(connection, number)? {
            return Err(Fault::another(seen.id.to_string()));
        }
        if !bind_key(connection, tenant, claim, number)? {
            return Ok(Swap::KeyTaken);
        }
    }
    let now = row::update(connection, number, change)?;
    let revision = Revision(standing.revision.0 + 1);
    let event = HistoryEvent {
        at: change.at,
        actor: change.actor.clone(),
        from: Some(seen.state.status()),
        to: change.state.status(),
        attempt: change.state.attempts_used(),
        detail: change.detail.clone(),
    };
    let state = if was_changed { UNKNOWN } else { now };
    let confirm_key = confirmation.map(|claim| Digest::of(claim.key.as_ref().map_or("", |key| key.as_str())));
    let (action, event) = (seen.id, &event);
    let link = Link { number, action, tenant, revision, event, proposal, state, confirm_key };
    history::append(connection, &link)?;
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

/// The digest of nothing: what stands in an event whose row was another than the event
/// before said. Nothing has it, so that a move hides no such change.
const UNKNOWN: Digest = Digest::from_bytes([0; 32]);

/// What an action's last event says of its proposal, and whether its row is another than
/// that event says it stands.
fn bound(connection: &Connection, standing: &Standing) -> Result<(Digest, bool), Fault> {
    let last = history::last(connection, standing.number, standing.revision)?;
    Ok(last.map_or((UNKNOWN, true), |last| (last.proposal, last.state != standing.state)))
}

/// The claim of a person that `change` writes down: one that begins an attempt, or an
/// approval.
fn confirmation(change: &Change) -> Option<&Claim> {
    match &change.state {
        State::Executing { claim, .. } => Some(claim),
        State::Pending { approvals, .. } if approvals.len() > change.seen.state.approvals().len() => {
            approvals.last().map(|approval| &approval.claim)
        }
        _ => None,
    }
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
pub(super) fn erase_outputs(
    connection: &Connection,
    before: Timestamp,
    now: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Seen, Fault> {
    let found = reads::with_output(connection, before, after, limit)?;
    erase_each(connection, &found, now, "its result was erased", |found| {
        let due = found.is_sound().then_some(before.as_millis());
        state::erase_output(connection, found.number, due)
    })
}

/// See `ActionStore::erase_arguments`.
pub(super) fn erase_arguments(
    connection: &Connection,
    before: Timestamp,
    now: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Seen, Fault> {
    let found = reads::with_arguments(connection, before, after, limit)?;
    erase_each(connection, &found, now, "its arguments and its preview were erased", |found| {
        row::proposal::erase_arguments(connection, found.number)
    })
}

/// Erases something of each, and writes that down; one that cannot be told of keeps no
/// other from being erased.
fn erase_each(
    connection: &Connection,
    all: &[Found],
    now: Timestamp,
    detail: &str,
    text: impl Fn(&Found) -> Result<(), Fault>,
) -> Result<Seen, Fault> {
    let last = reads::last(connection, "moment", all)?;
    let mut left = Vec::new();
    for found in all {
        execute(connection, "SAVEPOINT erasure")?;
        let erased = erase(connection, found, now, detail, || text(found));
        if let Err(error) = erased {
            if !is_of_its_rows(&error) {
                return Err(error);
            }
            execute(connection, "ROLLBACK TO erasure")?;
            left.push(Left { id: found.id.clone(), why: error.to_string() });
        }
        execute(connection, "RELEASE erasure")?;
    }
    Ok(Seen { count: all.len(), last, left })
}

/// Whether it is what the file holds of one action, or of its tenant, that is wrong, and
/// others can be written.
fn is_of_its_rows(fault: &Fault) -> bool {
    match fault {
        // Without a code SQLite itself did nothing wrong: what it found is no value.
        Fault::Sqlite(error) => {
            matches!(error.sqlite_error_code(), None | Some(ErrorCode::ConstraintViolation))
        }
        Fault::Damaged { .. } | Fault::Unreadable(_) => true,
    }
}

/// Whether what is deleted from now on is overwritten with zeros: all of it (`on`), or
/// what is on pages that are written anyway (`fast`).
pub(super) fn overwrite(connection: &Connection, how: &str) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "secure_delete", how, |_| Ok(()))
}

/// Erases something of an action that has ended, and writes that down. Where that cannot
/// be, what it did is to be undone.
fn erase(
    connection: &Connection,
    found: &Found,
    now: Timestamp,
    detail: &str,
    text: impl FnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let place = history::place_of(connection, found.number)
        .map_err(|error| Fault::Unreadable(format!("nobody can tell whose it is ({error:#})")))?;
    let Some(before) = state::standing_of(connection, found.number)? else { return Ok(()) };
    let (proposal, was_changed) = bound(connection, &before)?;
    // Overwritten, too: what is only let go of stays in the file for long.
    overwrite(connection, "on")?;
    let erased = text();
    overwrite(connection, "fast")?;
    erased?;
    let Some(after) = state::standing_of(connection, found.number)? else { return Ok(()) };
    let event = HistoryEvent {
        at: now,
        actor: None,
        from: Some(place.status),
        to: place.status,
        attempt: place.attempts,
        detail: detail.to_owned(),
    };
    let link = Link {
        number: found.number,
        action: place.id,
        tenant: &place.tenant,
        revision: after.revision,
        event: &event,
        proposal,
        state: if was_changed { UNKNOWN } else { after.state },
        confirm_key: None,
    };
    history::append(connection, &link)?;
    fault::reached(Point::ErasureWritten);
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
