//! Events of the history, each chained to the one before it of its tenant.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::action::{Revision, Status};
use tether_core::chain::{self, Head, Line};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, TenantId};
use tether_core::identity::{Actor, Channel};
use tether_core::port::actions::HistoryEvent;
use tether_core::port::announcements::Announced;

use super::{Columns, Fault, as_it_is, parsed, state};

/// What [`event`] reads, in this order.
pub(crate) const EVENT_COLUMNS: &str = "at, actor, channel, was, became, attempt, detail";

/// What [`announced`] and [`chained`] read, in this order; the rows of `history` joined with
/// `actions`.
pub(crate) const ANNOUNCED_COLUMNS: &str = "history.number, history.tenant, place, hash, actions.id, \
     history.revision, at, actor, channel, was, became, attempt, detail, proposal, state, \
     confirm_key, action";

/// What an action's last event says of the action itself.
pub(crate) struct Last {
    pub(crate) proposal: Digest,
    pub(crate) state: Digest,
}

/// An event that is about to be written.
pub(crate) struct Link<'a> {
    /// The action's row.
    pub(crate) number: i64,
    pub(crate) action: ActionId,
    pub(crate) tenant: &'a TenantId,
    pub(crate) revision: Revision,
    pub(crate) event: &'a HistoryEvent,
    pub(crate) proposal: Digest,
    pub(crate) state: Digest,
    /// See [`Line::confirm_key`].
    pub(crate) confirm_key: Option<Digest>,
}

/// What the event says by which the action in row `number` came to `revision`.
pub(crate) fn last(connection: &Connection, number: i64, revision: Revision) -> Result<Option<Last>, Fault> {
    let found = connection
        .prepare_cached("SELECT proposal, state FROM history WHERE action = ? AND revision = ?")?
        .query_row((number, revision.0.cast_signed()), |row| {
            Ok(Last { proposal: Digest::from_bytes(row.get(0)?), state: Digest::from_bytes(row.get(1)?) })
        });
    Ok(found.optional()?)
}

/// The end of a tenant's chain. Read from its table each time: what was written last may
/// have been undone.
///
/// # Errors
///
/// `Unreadable` where no chain ends so, or none is kept of one that was begun: nothing can
/// come after that.
pub(crate) fn head(connection: &Connection, tenant: &TenantId) -> Result<(u64, Digest), Fault> {
    let found = connection
        .prepare_cached("SELECT place, hash FROM chain_heads WHERE tenant = ?")?
        .query_row([tenant.as_str()], |row| Ok(read_head(row)))
        .optional()?;
    let head = match found {
        Some(head) => head,
        None if has_history(connection, tenant)? => Err(anyhow::anyhow!("no end is kept of it")),
        None => Ok((0, chain::genesis(tenant))),
    };
    head.map_err(|error| {
        Fault::Unreadable(format!(
            "where the history of {tenant} ends was changed in the store ({error:#}): run `tether audit verify`"
        ))
    })
}

/// Whether anything was written of a tenant. By way of its actions: events have no index by
/// tenant, which would be a page more to sync for each of them.
fn has_history(connection: &Connection, tenant: &TenantId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT 1 FROM actions JOIN history ON history.action = actions.number
             WHERE actions.tenant = ?1 AND history.tenant = ?1",
        )?
        .exists([tenant.as_str()])
}

fn read_head(row: &Row<'_>) -> anyhow::Result<(u64, Digest)> {
    let place: i64 = row.get("place")?;
    anyhow::ensure!((1..i64::MAX).contains(&place), "no history ends at place {place}");
    Ok((place.cast_unsigned(), Digest::from_bytes(row.get("hash")?)))
}

/// Writes an event at the end of its tenant's chain.
pub(crate) fn append(connection: &Connection, link: &Link<'_>) -> Result<(), Fault> {
    let head = insert_after(connection, head(connection, link.tenant)?, link)?;
    set_head(connection, link.tenant, head)
}

/// Writes an event after `head`, which is not written; the new one.
pub(crate) fn insert_after(
    connection: &Connection,
    head: (u64, Digest),
    link: &Link<'_>,
) -> Result<(u64, Digest), Fault> {
    let Link { number, action, tenant, revision, event, proposal, state, confirm_key } = *link;
    let place = head.0 + 1;
    let line = Line { tenant, place, action, revision, event, proposal, state, confirm_key };
    let hash = line.hash(&head.1);
    connection
        .prepare_cached(
            "INSERT INTO history (tenant, place, action, revision, at, actor, channel, was, became, attempt,
                 detail, proposal, state, confirm_key, hash)
             VALUES (:tenant, :place, :action, :revision, :at, :actor, :channel, :was, :became, :attempt,
                 :detail, :proposal, :state, :confirm_key, :hash)",
        )?
        .execute(named_params! {
            ":tenant": tenant.as_str(),
            ":place": place.cast_signed(),
            ":action": number,
            ":revision": revision.0.cast_signed(),
            ":at": event.at.as_millis(),
            ":actor": event.actor.as_ref().map(|actor| actor.user.as_str()),
            ":channel": event.actor.as_ref().and_then(|actor| actor.channel).map(Channel::as_str),
            ":was": event.from.map(|status| status.as_str()),
            ":became": event.to.as_str(),
            ":attempt": event.attempt,
            ":detail": event.detail,
            ":proposal": proposal.as_bytes(),
            ":state": state.as_bytes(),
            ":confirm_key": confirm_key.as_ref().map(Digest::as_bytes),
            ":hash": hash.as_bytes(),
        })?;
    Ok((place, hash))
}

/// Writes down where a tenant's chain ends.
pub(crate) fn set_head(
    connection: &Connection,
    tenant: &TenantId,
    (place, hash): (u64, Digest),
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO chain_heads (tenant, place, hash) VALUES (?, ?, ?)
             ON CONFLICT (tenant) DO UPDATE SET place = excluded.place, hash = excluded.hash",
        )?
        .execute((tenant.as_str(), place.cast_signed(), hash.as_bytes()))?;
    Ok(())
}

/// A history event, from [`EVENT_COLUMNS`], of which the first is number `first` in the row.
pub(crate) fn event(row: &Row<'_>, first: usize) -> anyhow::Result<HistoryEvent> {
    read_event(&mut Columns::from(row, first))
}

fn read_event(columns: &mut Columns<'_>) -> anyhow::Result<HistoryEvent> {
    let at = Timestamp::from_millis(columns.next()?);
    let user = columns.next::<Option<String>>()?.map(|user| user.parse()).transpose()?;
    let channel = columns.next::<Option<String>>()?;
    let channel = channel
        .map(|word| Channel::from_word(&word).ok_or_else(|| anyhow::anyhow!("{word:?} is no channel")));
    Ok(HistoryEvent {
        at,
        actor: match (user, channel.transpose()?) {
            (Some(user), channel) => Some(Actor { user, channel }),
            (None, None) => None,
            (None, Some(_)) => anyhow::bail!("nobody came in by a channel"),
        },
        from: columns.next::<Option<String>>()?.map(|word| state::status(&word)).transpose()?,
        to: state::status(&columns.next::<String>()?)?,
        attempt: columns.next()?,
        detail: columns.next()?,
    })
}

/// An event with what others are told of it, from a row of [`ANNOUNCED_COLUMNS`].
pub(crate) fn announced(row: &Row<'_>) -> anyhow::Result<Announced> {
    read_announced(&mut Columns::from(row, 0))
}

fn read_announced(columns: &mut Columns<'_>) -> anyhow::Result<Announced> {
    Ok(Announced {
        number: columns.next::<i64>()?.try_into()?,
        tenant: columns.next::<String>()?.parse()?,
        place: columns.next::<i64>()?.try_into()?,
        hash: Digest::from_bytes(columns.next()?),
        action: columns.next::<String>()?.parse()?,
        revision: Revision(columns.next::<i64>()?.try_into()?),
        event: read_event(columns)?,
    })
}

/// An event as it is stored, with everything that its hash covers.
#[derive(Debug)]
pub struct Chained {
    /// Whose history it is in, where, its hash, and what happened.
    pub announced: Announced,
    /// Of what never changes of the action.
    pub proposal: Digest,
    /// Of how it stood from then on.
    pub state: Digest,
    /// Of the key that somebody confirmed with; see [`Line::confirm_key`].
    pub confirm_key: Option<Digest>,
    /// The number of the action's row: the order in which all tenants proposed. No hash
    /// covers it.
    pub action_number: i64,
}

impl Chained {
    /// What its hash is of.
    pub fn line(&self) -> Line<'_> {
        let Announced { tenant, place, action, revision, event, .. } = &self.announced;
        let (place, action, revision) = (*place, *action, *revision);
        let Self { proposal, state, confirm_key, .. } = *self;
        Line { tenant, place, action, revision, event, proposal, state, confirm_key }
    }
}

/// The same, from a row of [`ANNOUNCED_COLUMNS`].
pub(crate) fn chained(row: &Row<'_>) -> anyhow::Result<Chained> {
    let mut columns = Columns::from(row, 0);
    Ok(Chained {
        announced: read_announced(&mut columns)?,
        proposal: Digest::from_bytes(columns.next()?),
        state: Digest::from_bytes(columns.next()?),
        confirm_key: columns.next::<Option<_>>()?.map(Digest::from_bytes),
        action_number: columns.next()?,
    })
}

/// Whose an action is, and how it stands: what an event of the host's own says.
pub(crate) struct Place {
    pub(crate) id: ActionId,
    pub(crate) tenant: TenantId,
    pub(crate) status: Status,
    pub(crate) attempts: u32,
}

/// The same of the action in row `number`, as far as the row can be read.
pub(crate) fn place_of(connection: &Connection, number: i64) -> anyhow::Result<Place> {
    let mut statement =
        connection.prepare_cached("SELECT id, tenant, status, attempts FROM actions WHERE number = ?")?;
    let mut rows = statement.query([number])?;
    let row = rows.next()?.ok_or_else(|| anyhow::anyhow!("there is no such row"))?;
    Ok(Place {
        id: parsed(row, "id")?,
        tenant: parsed(row, "tenant")?,
        status: state::status(&row.get::<_, String>("status")?)?,
        attempts: row.get("attempts")?,
    })
}

/// The ends of all chains, each with the name of its tenant as it is there.
pub(crate) fn heads(connection: &Connection) -> rusqlite::Result<Vec<(String, anyhow::Result<Head>)>> {
    let mut statement = connection.prepare_cached("SELECT tenant, place, hash FROM chain_heads")?;
    let heads = statement.query_map([], |row| {
        let head = || {
            let (place, hash) = read_head(row)?;
            Ok(Head { tenant: parsed(row, "tenant")?, place, hash })
        };
        Ok((as_it_is(row, "tenant")?, head()))
    })?;
    heads.collect()
}
