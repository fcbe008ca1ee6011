//! Rows and core types, each from the other. No other file knows a column.

mod handler;
mod json;
mod state;

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::action::{Action, Preview, Proposal, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, TenantId};
use tether_core::json::JsonText;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, HistoryEvent, NewAction};

use self::handler::HandlerColumns;
use self::state::StateColumns;

/// Why a row became no value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// SQLite said no.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The row holds what Tether never wrote: it must not run.
    #[error("action {id} was changed in the store: {what}")]
    Damaged { id: String, what: String },
}

/// What [`action`] reads.
pub(crate) const COLUMNS: &str = "number, id, revision, tenant, proposer, tool, arguments, handler, \
     handler_name, handler_digest, grants, fingerprint, preview_kind, preview, created_at, max_attempts, \
     status, attempts, expires_at, person, claim_key, moment, failure, reason, output, ledger";

/// An action, from a row of [`COLUMNS`].
pub(crate) fn action(row: &Row<'_>) -> Result<Action, Fault> {
    let id: String = row.get("id")?;
    read(row).map_err(|error| match error.downcast::<rusqlite::Error>() {
        Ok(error) => Fault::Sqlite(error),
        Err(error) => Fault::Damaged { id, what: format!("{error:#}") },
    })
}

fn read(row: &Row<'_>) -> anyhow::Result<Action> {
    let proposal = Proposal {
        tenant: parsed(row, "tenant")?,
        proposer: parsed(row, "proposer")?,
        tool: parsed(row, "tool")?,
        arguments: JsonText::parse(row.get::<_, String>("arguments")?)?,
        binding: HandlerColumns::read(row)?.binding()?,
        preview: read_preview(row)?,
        created_at: moment(row, "created_at")?,
        max_attempts: row.get("max_attempts")?,
    };
    let stored: Digest = parsed(row, "fingerprint")?;
    anyhow::ensure!(stored == fingerprint(&proposal), "its fingerprint does not fit any more");
    Ok(Action {
        id: parsed(row, "id")?,
        revision: Revision(row.get::<_, i64>("revision")?.try_into()?),
        proposal,
        state: StateColumns::read(row)?.state()?,
        ledger: json::read_ledger(&row.get::<_, String>("ledger")?)?,
    })
}

/// The digest of what was shown and will run. No name holds a line break, and the
/// handler, which may, comes last: two proposals never give one text.
fn fingerprint(proposal: &Proposal) -> Digest {
    let Proposal { tenant, proposer, tool, arguments, binding, .. } = proposal;
    let (arguments, handler) = (arguments.fingerprint(), handler::text(binding));
    Digest::of(format!("{tenant}\n{proposer}\n{tool}\n{arguments}\n{handler}"))
}

/// Keeps a new action.
pub(crate) fn insert(connection: &Connection, new: &NewAction) -> Result<Action, Fault> {
    let NewAction { id, proposal, expires_at, key } = new;
    let action = Action {
        id: *id,
        revision: Revision(1),
        proposal: proposal.clone(),
        state: State::Pending { attempts_used: 0, expires_at: *expires_at, last_failure: None },
        ledger: Ledger::default(),
    };
    let Proposal { tenant, proposer, tool, arguments, binding, preview, created_at, max_attempts } = proposal;
    let (preview_kind, preview) = match preview {
        Preview::Text(text) => ("text", Some(text)),
        Preview::None => ("none", None),
        Preview::Unavailable(why) => ("unavailable", Some(why)),
    };
    let handler = HandlerColumns::from(binding);
    connection
        .prepare_cached(
            "INSERT INTO actions (id, revision, tenant, proposer, proposal_key, tool, arguments, handler,
                 handler_name, handler_digest, grants, fingerprint, preview_kind, preview, created_at,
                 max_attempts, status, attempts, expires_at, ledger)
             VALUES (:id, 1, :tenant, :proposer, :proposal_key, :tool, :arguments, :handler,
                 :handler_name, :handler_digest, :grants, :fingerprint, :preview_kind, :preview, :created_at,
                 :max_attempts, 'Pending', 0, :expires_at, :ledger)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":tenant": tenant.as_str(),
            ":proposer": proposer.as_str(),
            ":proposal_key": key.as_ref().map(|key| key.as_str()),
            ":tool": tool.as_str(),
            ":arguments": arguments.as_str(),
            ":handler": handler.kind,
            ":handler_name": handler.name,
            ":handler_digest": handler.digest,
            ":grants": handler.grants,
            ":fingerprint": fingerprint(proposal).to_string(),
            ":preview_kind": preview_kind,
            ":preview": preview,
            ":created_at": created_at.as_millis(),
            ":max_attempts": max_attempts,
            ":expires_at": expires_at.as_millis(),
            ":ledger": json::write_ledger(&action.ledger),
        })?;
    Ok(action)
}

/// The number and the revision of an action's row.
pub(crate) fn revision(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
) -> Result<Option<(i64, Revision)>, Fault> {
    let found = connection
        .prepare_cached("SELECT number, revision FROM actions WHERE id = ? AND tenant = ?")?
        .query_row((id.to_string(), tenant.as_str()), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    Ok(found.map(|(number, revision)| (number, Revision(revision.cast_unsigned()))))
}

/// Moves the action in row `number` by `change`.
pub(crate) fn update(connection: &Connection, number: i64, change: &Change) -> Result<(), Fault> {
    let columns = StateColumns::from(&change.state);
    connection
        .prepare_cached(
            "UPDATE actions SET revision = revision + 1, status = :status, attempts = :attempts,
                 expires_at = :expires_at, person = :person, claim_key = :claim_key, moment = :moment,
                 failure = :failure, reason = :reason, output = :output, ledger = :ledger
             WHERE number = :number",
        )?
        .execute(named_params! {
            ":number": number,
            ":status": columns.status,
            ":attempts": columns.attempts,
            ":expires_at": columns.expires_at,
            ":person": columns.person,
            ":claim_key": columns.claim_key,
            ":moment": columns.moment,
            ":failure": columns.failure,
            ":reason": columns.reason,
            ":output": columns.output,
            ":ledger": json::write_ledger(&change.ledger),
        })?;
    Ok(())
}

/// Writes the ledger of an action whose attempt `attempt` executes; false where none
/// does.
pub(crate) fn update_ledger(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
    attempt: u32,
    ledger: &Ledger,
) -> Result<bool, Fault> {
    let changed = connection
        .prepare_cached(
            "UPDATE actions SET ledger = :ledger
             WHERE id = :id AND tenant = :tenant AND status = 'Executing' AND attempts = :attempt",
        )?
        .execute(named_params! {
            ":ledger": json::write_ledger(ledger),
            ":id": id.to_string(),
            ":tenant": tenant.as_str(),
            ":attempt": attempt,
        })?;
    Ok(changed == 1)
}

/// Notes in the history how row `number` came to `revision`.
pub(crate) fn insert_event(
    connection: &Connection,
    number: i64,
    revision: Revision,
    event: &HistoryEvent,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO history (action, revision, at, actor, was, became, attempt, detail)
             VALUES (:action, :revision, :at, :actor, :was, :became, :attempt, :detail)",
        )?
        .execute(named_params! {
            ":action": number,
            ":revision": revision.0.cast_signed(),
            ":at": event.at.as_millis(),
            ":actor": event.actor.as_ref().map(|actor| actor.as_str()),
            ":was": event.from.map(|status| status.as_str()),
            ":became": event.to.as_str(),
            ":attempt": event.attempt,
            ":detail": event.detail,
        })?;
    Ok(())
}

/// What [`event`] reads.
pub(crate) const EVENT_COLUMNS: &str = "at, actor, was, became, attempt, detail";

/// A history event, from a row of [`EVENT_COLUMNS`].
pub(crate) fn event(row: &Row<'_>) -> anyhow::Result<HistoryEvent> {
    Ok(HistoryEvent {
        at: moment(row, "at")?,
        actor: parsed_option(row, "actor")?,
        from: row.get::<_, Option<String>>("was")?.map(|word| state::status(&word)).transpose()?,
        to: state::status(&row.get::<_, String>("became")?)?,
        attempt: row.get("attempt")?,
        detail: row.get("detail")?,
    })
}

fn read_preview(row: &Row<'_>) -> anyhow::Result<Preview> {
    let text = row.get::<_, Option<String>>("preview")?;
    match (row.get::<_, String>("preview_kind")?.as_str(), text) {
        ("text", Some(text)) => Ok(Preview::Text(text)),
        ("none", None) => Ok(Preview::None),
        ("unavailable", Some(why)) => Ok(Preview::Unavailable(why)),
        (kind, _) => anyhow::bail!("its preview is {kind:?}"),
    }
}

fn moment(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

fn parsed<T>(row: &Row<'_>, column: &str) -> anyhow::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    Ok(row.get::<_, String>(column)?.parse()?)
}

fn parsed_option<T>(row: &Row<'_>, column: &str) -> anyhow::Result<Option<T>>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    Ok(row.get::<_, Option<String>>(column)?.map(|text| text.parse()).transpose()?)
}
