//! The whole file of the actions, for whoever checks it: read, and never written.

use std::path::Path;

use anyhow::Context as _;
use rusqlite::{Connection, Row};
use tether_core::action::{Action, Approval, Claim, State};
use tether_core::audit::BoundKey;
use tether_core::chain::Head;
use tether_core::clock::Timestamp;
use tether_core::grant::Binding;
use tether_core::id::{ActionId, TenantId};
use tether_core::port::actions::HistoryEvent;

use super::{open_reader, reads};
use crate::row::history::{self, Chained};
use crate::row::{Fault, Stored, proposal, state};

/// The actions of all tenants, in the order in which they were proposed. Everything here
/// blocks. Nobody may write to the file meanwhile: what belongs together is read in
/// several steps.
pub struct Archive {
    connection: Connection,
    /// The row that was read last.
    last: i64,
}

/// An action, with everything that the file holds of it.
#[derive(Debug)]
pub struct Kept {
    /// The action.
    pub action: Action,
    /// Its history, oldest first.
    pub history: Vec<HistoryEvent>,
    /// The action that the key of its claim is bound to, if it has one.
    pub key_names: Option<ActionId>,
    /// Whether the row is what the last event of its history says, and the keys of its
    /// approvals are bound to it.
    pub fits: bool,
    /// From when on its records are to be emptied, if they are.
    pub records_due: Option<Timestamp>,
}

/// An action that holds what Tether never wrote.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Damaged {
    /// Its id, as it is there.
    pub id: String,
    /// What is wrong, for people.
    pub what: String,
}

impl Archive {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// It is not there, it is no database, or another Tether's.
    pub fn open(path: impl AsRef<Path>) -> anyhow::Result<Self> {
        let path = std::path::absolute(path.as_ref())?;
        anyhow::ensure!(path.is_file(), "there is no file {}", path.display());
        let cannot = || format!("{} cannot be read", path.display());
        let connection = open_reader(&path).with_context(cannot)?;
        super::schema::check(&connection).with_context(cannot)?;
        // One for everything that is read: each would take and let go of the file's locks.
        connection.execute_batch("BEGIN").with_context(cannot)?;
        Ok(Self { connection, last: 0 })
    }

    /// How many actions there are.
    pub fn count(&self) -> anyhow::Result<u64> {
        Ok(reads::count(&self.connection)?)
    }

    /// The next ones, at most `limit`; none at the end.
    pub fn next_page(&mut self, limit: usize) -> anyhow::Result<Vec<Result<Kept, Damaged>>> {
        let found = reads::after(&self.connection, self.last, limit)?;
        if let Some(last) = found.last() {
            self.last = last.number;
        }
        let whole =
            |found: reads::Found| match found.stored.and_then(|stored| self.whole(found.number, stored)) {
                Ok(kept) => Ok(Ok(kept)),
                Err(Fault::Damaged { id: _, what }) => Ok(Err(Damaged { id: found.id, what })),
                Err(fault) => Err(fault.into()),
            };
        found.into_iter().map(whole).collect()
    }

    /// Where each tenant's history should end. What no history ends with is an error, with
    /// the tenant in place of an id.
    pub fn heads(&self) -> anyhow::Result<Vec<Result<Head, Damaged>>> {
        let heads = history::heads(&self.connection)?.into_iter();
        let head = |(id, head): (_, anyhow::Result<_>)| {
            head.map_err(|error| Damaged { id, what: format!("{error:#}") })
        };
        Ok(heads.map(head).collect())
    }

    /// Whose action `id` is, and what it is bound to; none where it is not there.
    pub fn bound(&self, id: &str) -> anyhow::Result<Option<Result<(TenantId, Binding), Damaged>>> {
        let bound = proposal::bound(&self.connection, id)?;
        let damaged = |error: anyhow::Error| Damaged { id: id.to_owned(), what: format!("{error:#}") };
        Ok(bound.map(|bound| bound.map_err(damaged)))
    }

    /// Hands every event of every tenant to `each`, in the order in which they were
    /// written. One that holds what Tether never wrote is an error, with its number in
    /// place of an id.
    pub fn events(
        &self,
        mut each: impl FnMut(Result<Chained, Damaged>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut statement = reads::every_event(&self.connection)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let chained = history::chained(row);
            each(match chained {
                Ok(chained) => Ok(chained),
                Err(error) => {
                    let number: i64 = row.get("number")?;
                    Err(Damaged { id: format!("event {number}"), what: format!("{error:#}") })
                }
            })?;
        }
        Ok(())
    }

    /// Hands every key that is bound to an action to `each`. One that holds what Tether never
    /// wrote, or whose action is gone, is an error.
    pub fn keys(
        &self,
        mut each: impl FnMut(Result<BoundKey, Damaged>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut statement = reads::every_key(&self.connection)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let damaged = |error| Damaged { id: "a bound key".to_owned(), what: format!("{error:#}") };
            each(bound_key(row).map_err(damaged))?;
        }
        Ok(())
    }

    /// How many events there are.
    pub fn count_events(&self) -> anyhow::Result<u64> {
        Ok(reads::count_events(&self.connection)?)
    }

    fn whole(&self, number: i64, stored: Stored) -> Result<Kept, Fault> {
        let Stored { action, fits } = stored;
        let tenant = &action.proposal.tenant;
        let history = reads::history(&self.connection, tenant, action.id)?;
        let key_names = match &action.state {
            State::Executing { claim: Claim { by, key: Some(key) }, .. }
            | State::Succeeded { claim: Claim { by, key: Some(key) }, .. } => {
                reads::confirmed_with(&self.connection, tenant, by, key)?
            }
            _ => None,
        };
        let fits = fits && self.keys_of_approvals_name(&action)?;
        let records_due = state::records_due(&self.connection, number)?;
        Ok(Kept { action, history, key_names, fits, records_due })
    }

    fn keys_of_approvals_name(&self, action: &Action) -> Result<bool, Fault> {
        for Approval { claim: Claim { by, key }, .. } in action.state.approvals() {
            let Some(key) = key else { continue };
            let bound = reads::confirmed_with(&self.connection, &action.proposal.tenant, by, key)?;
            if bound != Some(action.id) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn bound_key(row: &Row<'_>) -> anyhow::Result<BoundKey> {
    let text = |index: usize| row.get::<_, String>(index);
    let action: Option<String> = row.get(3)?;
    Ok(BoundKey {
        tenant: text(0)?.parse()?,
        person: text(1)?.parse()?,
        key: text(2)?.parse()?,
        action: action.context("its action is not there")?.parse()?,
    })
}
