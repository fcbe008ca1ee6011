//! Rows and core types, each from the other. No other file knows a column.

mod handler;
pub(crate) mod history;
mod json;
pub(crate) mod proposal;
pub(crate) mod state;

use rusqlite::types::FromSql;
use rusqlite::{Connection, Row, named_params};
use tether_core::action::{Action, Revision, State};
use tether_core::digest::Digest;
use tether_core::id::{ActionId, TenantId};
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, NewAction};

use self::proposal::ProposalColumns;
use self::state::StateColumns;

/// Why a row became no value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// SQLite said no.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The row holds what Tether never wrote: it must not run, nor be told.
    #[error("action {id} was changed in the store: {what}")]
    Damaged { id: String, what: String },
    /// The same of a row that is no action's.
    #[error("{0}")]
    Unreadable(String),
}

/// The statement that finds those actions for which the rest of it holds, each with what its
/// last event says of it; [`stored`] reads its rows.
pub(crate) fn select(rest: &str) -> String {
    format!(
        "SELECT number, id, revision, ledger, told_proposal, told_state, {}, {}
         FROM actions LEFT JOIN (
             SELECT action, revision AS told_revision, proposal AS told_proposal, state AS told_state FROM history
         ) ON action = number AND told_revision = revision
         {rest}",
        proposal::COLUMNS,
        state::COLUMNS
    )
}

/// Where the columns of [`select`] begin that `proposal` and `state` know.
const OTHERS: usize = 6;

/// The columns of a row, one after the other. To look one up by its name is to compare it
/// with all of them, which is most of the work for a row of this width.
struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    fn from(row: &'a Row<'a>, first: usize) -> Self {
        Self { row, next: first }
    }

    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }
}

/// An action, as its row has it.
pub(crate) struct Stored {
    pub(crate) action: Action,
    /// Whether that is what its history says.
    pub(crate) fits: bool,
}

impl Stored {
    /// The action, if it is what its history says: the only one to be told of, or acted on.
    pub(crate) fn sound(self) -> Result<Action, Fault> {
        let Self { action, fits } = self;
        if fits { Ok(action) } else { Err(Fault::another(action.id.to_string())) }
    }
}

impl Fault {
    /// The row of an action, and its last event, do not fit.
    pub(crate) fn another(id: String) -> Self {
        Self::Damaged { id, what: "its row is another than its history says".to_owned() }
    }
}

/// An action, from a row of [`select`], whether it fits its history or not.
pub(crate) fn stored(row: &Row<'_>) -> Result<Stored, Fault> {
    let id = as_it_is(row, "id")?;
    // Nothing is read from the file any more: what cannot be had is not what was written.
    read(row).map_err(|error| Fault::Damaged { id, what: format!("{error:#}") })
}

fn read(row: &Row<'_>) -> anyhow::Result<Stored> {
    let mut others = Columns::from(row, OTHERS);
    let (proposal, standing) = (ProposalColumns::read(&mut others)?, StateColumns::read(&mut others)?);
    let ledger: String = row.get("ledger")?;
    let told = |column, digest: Digest| -> anyhow::Result<bool> {
        Ok(row.get_ref(column)?.as_blob_or_null()? == Some(digest.as_bytes().as_slice()))
    };
    let fits = told("told_proposal", proposal.digest())? && told("told_state", standing.digest(&ledger))?;
    let action = Action {
        id: parsed(row, "id")?,
        revision: Revision(row.get::<_, i64>("revision")?.try_into()?),
        proposal: proposal.proposal()?,
        state: standing.state()?,
        ledger: json::read_ledger(&ledger)?,
    };
    Ok(Stored { action, fits })
}

/// A new row, and the digests of what it holds.
pub(crate) struct Inserted {
    pub(crate) action: Action,
    pub(crate) number: i64,
    pub(crate) proposal: Digest,
    pub(crate) state: Digest,
}

/// Keeps a new action.
pub(crate) fn insert(connection: &Connection, new: &NewAction) -> Result<Inserted, Fault> {
    let NewAction { id, proposal, expires_at, key, channel: _, max_open: _ } = new;
    let action = Action {
        id: *id,
        revision: Revision(1),
        proposal: proposal.clone(),
        state: State::Pending {
            attempts_used: 0,
            expires_at: *expires_at,
            last_failure: None,
            approvals: Vec::new(),
        },
        ledger: Ledger::default(),
    };
    let columns = ProposalColumns::new(proposal, key.as_ref());
    let (standing, ledger) = (StateColumns::from(&action.state), json::write_ledger(&action.ledger));
    connection
        .prepare_cached(
            "INSERT INTO actions (id, revision, tenant, proposer, proposal_key, tool, arguments, handler,
                 handler_name, handler_digest, grants, fingerprint, preview_kind, preview, created_at,
                 max_attempts, people, status, attempts, expires_at, ledger)
             VALUES (:id, 1, :tenant, :proposer, :proposal_key, :tool, :arguments, :handler,
                 :handler_name, :handler_digest, :grants, :fingerprint, :preview_kind, :preview, :created_at,
                 :max_attempts, :people, :status, 0, :expires_at, :ledger)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":tenant": proposal.tenant.as_str(),
            ":proposer": proposal.proposer.as_str(),
            ":proposal_key": key.as_ref().map(|key| key.as_str()),
            ":tool": proposal.tool.as_str(),
            ":arguments": columns.arguments,
            ":handler": columns.handler.kind,
            ":handler_name": columns.handler.name,
            ":handler_digest": columns.handler.digest,
            ":grants": columns.handler.grants,
            ":fingerprint": columns.fingerprint,
            ":preview_kind": columns.preview_kind,
            ":preview": columns.preview,
            ":created_at": proposal.created_at.as_millis(),
            ":max_attempts": proposal.max_attempts,
            ":people": proposal.people,
            ":status": standing.status,
            ":expires_at": standing.expires_at,
            ":ledger": ledger,
        })?;
    let (proposal, state) = (columns.digest(), standing.digest(&ledger));
    Ok(Inserted { action, number: connection.last_insert_rowid(), proposal, state })
}

/// Moves the action in row `number` by `change`; the digest of how it then stands.
pub(crate) fn update(connection: &Connection, number: i64, change: &Change) -> Result<Digest, Fault> {
    let (columns, ledger) = (StateColumns::from(&change.state), json::write_ledger(&change.ledger));
    connection
        .prepare_cached(
            "UPDATE actions SET revision = revision + 1, status = :status, attempts = :attempts,
                 expires_at = :expires_at, person = :person, claim_key = :claim_key, moment = :moment,
                 failure = :failure, reason = :reason, approvals = :approvals, output = :output,
                 ledger = :ledger
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
            ":approvals": columns.approvals,
            ":output": columns.output,
            ":ledger": ledger,
        })?;
    Ok(columns.digest(&ledger))
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

/// What is in a column of text, for whoever is told of its row: somebody may have put there
/// what is no text, and one such row must not hide all others.
pub(crate) fn as_it_is(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    let bytes = row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn parsed<T>(row: &Row<'_>, column: &str) -> anyhow::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    Ok(row.get::<_, String>(column)?.parse()?)
}
