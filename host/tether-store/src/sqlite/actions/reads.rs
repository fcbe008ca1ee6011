//! What is asked about actions.

use rusqlite::{Connection, OptionalExtension as _, Statement, ToSql};
use tether_core::action::{Action, Proposal};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, IdempotencyKey, TenantId, UserId};
use tether_core::port::actions::{Filter, HistoryEvent, Left, Mark, Page, Part, Seen};
use tether_core::port::announcements::Announced;

use crate::row::history::{self, ANNOUNCED_COLUMNS, EVENT_COLUMNS};
use crate::row::{self, Fault, Stored};

/// See `ActionStore::proposed_with`.
pub(super) fn proposed_with(
    connection: &Connection,
    tenant: &TenantId,
    user: &UserId,
    key: &IdempotencyKey,
) -> Result<Option<Action>, Fault> {
    let sql = row::select("WHERE tenant = ? AND proposer = ? AND proposal_key = ?");
    first(connection, &sql, &[&tenant.as_str(), &user.as_str(), &key.as_str()])
}

/// See `ActionStore::confirmed_with`.
pub(super) fn confirmed_with(
    connection: &Connection,
    tenant: &TenantId,
    user: &UserId,
    key: &IdempotencyKey,
) -> Result<Option<ActionId>, Fault> {
    let id: Option<String> = connection
        .prepare_cached(
            "SELECT id FROM confirm_keys JOIN actions ON number = action
             WHERE confirm_keys.tenant = ? AND confirm_keys.person = ? AND key = ?",
        )?
        .query_row((tenant.as_str(), user.as_str(), key.as_str()), |row| row::as_it_is(row, "id"))
        .optional()?;
    id.map(|id| id.parse().map_err(|_| Fault::Damaged { id, what: "its id is none".into() })).transpose()
}

/// An action of this tenant.
pub(super) fn action(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
) -> Result<Option<Action>, Fault> {
    let sql = row::select("WHERE id = ? AND tenant = ?");
    first(connection, &sql, &[&id.to_string(), &tenant.as_str()])
}

/// See `ActionStore::list`; none where the cursor is none of ours. A cursor is the id
/// of the last action of the page before: it says nothing about other tenants.
pub(super) fn list(
    connection: &Connection,
    tenant: &TenantId,
    filter: &Filter,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Option<Page>, Fault> {
    let tenant = tenant.as_str();
    let start: Option<i64> = connection
        .prepare_cached("SELECT number FROM actions WHERE id = ? AND tenant = ?")?
        .query_row((cursor, tenant), |row| row.get(0))
        .optional()?;
    if start.is_none() && cursor.is_some() {
        return Ok(None);
    }
    let status = filter.status.map(|status| status.as_str());
    let proposer = filter.proposer.as_ref().map(|proposer| proposer.as_str());
    // One more than asked for tells whether there is another page.
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);

    let mut sql = row::select("WHERE tenant = ?");
    let mut values: Vec<&dyn ToSql> = vec![&tenant];
    if let Some(status) = &status {
        sql += " AND status = ?";
        values.push(status);
    }
    if let Some(proposer) = &proposer {
        sql += " AND proposer = ?";
        values.push(proposer);
    }
    if let Some(start) = &start {
        sql += " AND number < ?";
        values.push(start);
    }
    sql += " ORDER BY number DESC LIMIT ?";
    values.push(&rows);

    let mut found = every(connection, &sql, &values)?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|found| found.id.clone());
    Ok(Some(Page { actions: sound(found), next }))
}

/// See `ActionStore::history`.
pub(super) fn history(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
) -> Result<Vec<HistoryEvent>, Fault> {
    let id = id.to_string();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS} FROM history
         WHERE action = (SELECT number FROM actions WHERE id = ? AND tenant = ?) ORDER BY revision"
    ))?;
    let mut rows = statement.query((&id, tenant.as_str()))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let event = history::event(row, 0);
        events.push(event.map_err(|error| Fault::Damaged { id: id.clone(), what: error.to_string() })?);
    }
    Ok(events)
}

/// See `ActionStore::executing`.
pub(super) fn executing(connection: &Connection) -> Result<Vec<Action>, Fault> {
    let sql = row::select("WHERE status = 'Executing' ORDER BY number");
    Ok(sound(every(connection, &sql, &[])?))
}

/// See `ActionStore::overdue`.
pub(super) fn overdue(
    connection: &Connection,
    now: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Part, Fault> {
    due(connection, "status = 'Pending' AND", "expires_at", now, after, limit)
}

/// See `ActionStore::with_records`.
pub(super) fn with_records(
    connection: &Connection,
    now: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Part, Fault> {
    due(connection, "", "records_due", now, after, limit)
}

/// See `ActionStore::needed_components`. Jumps from each digest to the next, so that
/// a million actions of one component cost one step.
pub(super) fn needed_components(connection: &Connection) -> Result<Vec<Digest>, Fault> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE needed (digest) AS (
             SELECT min(handler_digest) FROM actions
             WHERE handler = 'component' AND status IN ('Pending', 'Executing')
             UNION ALL
             SELECT (SELECT min(handler_digest) FROM actions
                     WHERE handler = 'component' AND status IN ('Pending', 'Executing')
                         AND handler_digest > digest)
             FROM needed WHERE digest IS NOT NULL
         )
         SELECT digest FROM needed WHERE digest IS NOT NULL",
    )?;
    let texts = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    // A damaged digest names no component that could be kept.
    Ok(texts.iter().filter_map(|text| text.parse().ok()).collect())
}

/// What the index of what is to be erased holds.
const TO_ERASE: &str = "status <> 'Pending' AND status <> 'Executing'
     AND (output IS NOT NULL OR arguments_digest IS NULL)";

/// The rows of up to `limit` actions that succeeded before `before` and whose outputs
/// are kept, the oldest first, from `after` on; sound or not.
pub(super) fn with_output(
    connection: &Connection,
    before: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Vec<Found>, Fault> {
    let kept = [
        "(output IS NULL) = 0 AND (arguments_digest IS NULL) = 0",
        "(output IS NULL) = 0 AND (arguments_digest IS NULL) = 1",
    ];
    to_erase(connection, kept, before, after, limit)
}

/// The same of actions that ended before `before` and whose arguments are kept.
pub(super) fn with_arguments(
    connection: &Connection,
    before: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Vec<Found>, Fault> {
    let kept = [
        "(output IS NULL) = 0 AND (arguments_digest IS NULL) = 1",
        "(output IS NULL) = 1 AND (arguments_digest IS NULL) = 1",
    ];
    to_erase(connection, kept, before, after, limit)
}

/// Two ranges of one index, which are merged.
fn to_erase(
    connection: &Connection,
    kept: [&str; 2],
    before: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Vec<Found>, Fault> {
    let [one, other] = kept.map(|kept| {
        row::select(&format!("WHERE {TO_ERASE} AND {kept} AND moment < ?1 AND (moment, number) > (?2, ?3)"))
    });
    let sql = format!("{one} UNION ALL {other} ORDER BY moment, number LIMIT ?4");
    from_mark(connection, &sql, before, after, limit)
}

/// How many proposals of the same tool the proposer of `new` has open when that is made,
/// counted up to `most`.
pub(super) fn open_proposals(connection: &Connection, new: &Proposal, most: u32) -> Result<u32, Fault> {
    let count = connection
        .prepare_cached(
            "SELECT count(*) FROM (
                 SELECT 1 FROM actions
                 WHERE tenant = ? AND proposer = ? AND tool = ? AND status IN ('Pending', 'Executing')
                     AND (status = 'Executing' OR expires_at > ?)
                 LIMIT ?)",
        )?
        .query_row(
            (new.tenant.as_str(), new.proposer.as_str(), new.tool.as_str(), new.created_at.as_millis(), most),
            |row| row.get(0),
        )?;
    Ok(count)
}

/// See `Announcements::newest`.
pub(super) fn newest_event(connection: &Connection) -> Result<u64, Fault> {
    let newest: Option<i64> =
        connection.prepare_cached("SELECT max(number) FROM history")?.query_row([], |row| row.get(0))?;
    Ok(newest.unwrap_or_default().cast_unsigned())
}

/// See `Announcements::after`.
pub(super) fn announced_after(
    connection: &Connection,
    number: u64,
    limit: usize,
) -> Result<Vec<Announced>, Fault> {
    let sql = format!(
        "SELECT {ANNOUNCED_COLUMNS} FROM history JOIN actions ON actions.number = action
         WHERE history.number > ? ORDER BY history.number LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((number.cast_signed(), i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, event) = (row.get("id")?, history::announced(row));
        events.push(event.map_err(|error| Fault::Damaged { id, what: format!("{error:#}") })?);
    }
    Ok(events)
}

/// Up to `limit` rows after row `number`, of all tenants, sound or not, in the order in
/// which they were proposed.
pub(super) fn after(connection: &Connection, number: i64, limit: usize) -> Result<Vec<Found>, Fault> {
    let sql = row::select("WHERE number > ? ORDER BY number LIMIT ?");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    every(connection, &sql, &[&number, &limit])
}

/// How many actions there are, of all tenants.
pub(super) fn count(connection: &Connection) -> Result<u64, Fault> {
    let count = connection.query_row("SELECT count(*) FROM actions", [], |row| row.get::<_, i64>(0))?;
    Ok(count.cast_unsigned())
}

/// Asks for every event, the oldest first. Its action may be gone.
pub(super) fn every_event(connection: &Connection) -> rusqlite::Result<Statement<'_>> {
    connection.prepare(&format!(
        "SELECT {ANNOUNCED_COLUMNS} FROM history LEFT JOIN actions ON actions.number = action
         ORDER BY history.number"
    ))
}

/// Every key that is bound to an action; the id is none where the action is not there.
pub(super) fn every_key(connection: &Connection) -> rusqlite::Result<Statement<'_>> {
    connection.prepare(
        "SELECT confirm_keys.tenant, confirm_keys.person, key, id FROM confirm_keys
         LEFT JOIN actions ON number = action",
    )
}

/// How many events there are, of all tenants.
pub(super) fn count_events(connection: &Connection) -> Result<u64, Fault> {
    let count = connection.query_row("SELECT count(*) FROM history", [], |row| row.get::<_, i64>(0))?;
    Ok(count.cast_unsigned())
}

/// A row of a list.
pub(super) struct Found {
    pub(super) number: i64,
    pub(super) id: String,
    /// An error where the row is damaged.
    pub(super) stored: Result<Stored, Fault>,
}

impl Found {
    /// Whether it can be read, and is what its history says.
    pub(super) fn is_sound(&self) -> bool {
        self.stored.as_ref().is_ok_and(|stored| stored.fits)
    }
}

fn every(connection: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Found>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(values, |row| {
        Ok(Found { number: row.get("number")?, id: row::as_it_is(row, "id")?, stored: row::stored(row) })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Up to `limit` rows of a list until `until`, which comes after `after`.
fn from_mark(
    connection: &Connection,
    sql: &str,
    until: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Vec<Found>, Fault> {
    let (at, number) = after.map_or((i64::MIN, i64::MIN), |mark| (mark.at.as_millis(), mark.number));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    every(connection, sql, &[&until.as_millis(), &at, &number, &limit])
}

/// Where a list ends that goes by `column`.
pub(super) fn last(connection: &Connection, column: &str, found: &[Found]) -> Result<Option<Mark>, Fault> {
    let Some(Found { number, .. }) = found.last() else { return Ok(None) };
    let at: i64 = connection
        .prepare_cached(&format!("SELECT {column} FROM actions WHERE number = ?"))?
        .query_row([number], |row| row.get(0))?;
    Ok(Some(Mark { at: Timestamp::from_millis(at), number: *number }))
}

/// Up to `limit` actions whose `column` is `now` or before, of those that `whose` leaves (an empty
/// text, or a condition with its AND), in the order of that column.
fn due(
    connection: &Connection,
    whose: &str,
    column: &str,
    now: Timestamp,
    after: Option<Mark>,
    limit: usize,
) -> Result<Part, Fault> {
    let sql = row::select(&format!(
        "WHERE {whose} {column} <= ?1 AND ({column}, number) > (?2, ?3) ORDER BY {column}, number LIMIT ?4"
    ));
    let found = from_mark(connection, &sql, now, after, limit)?;
    let (count, last) = (found.len(), last(connection, column, &found)?);
    let (actions, left) = divided(found);
    Ok(Part { actions, seen: Seen { count, last, left } })
}

/// The actions of those rows that are sound, and the others. One damaged row must not keep
/// all others from being listed, expired and settled.
fn divided(found: Vec<Found>) -> (Vec<Action>, Vec<Left>) {
    let (mut actions, mut left) = (Vec::new(), Vec::new());
    for Found { id, stored, .. } in found {
        match stored.and_then(Stored::sound) {
            Ok(action) => actions.push(action),
            Err(error) => left.push(Left { id, why: error.to_string() }),
        }
    }
    (actions, left)
}

/// Those that are sound; one line of the log is for all others.
fn sound(found: Vec<Found>) -> Vec<Action> {
    let (actions, left) = divided(found);
    if let Some(Left { id, why }) = left.first() {
        let count = left.len();
        tracing::error!(count, action = id, error = why, "actions are left out: run `tether audit verify`");
    }
    actions
}

fn first(connection: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<Option<Action>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    rows.next()?.map(|row| row::stored(row)?.sound()).transpose()
}
