//! Actions in one SQLite file.

mod reads;
mod schema;
#[cfg(test)]
mod tests;
mod writer;
mod writes;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use rusqlite::{Connection, OpenFlags};
use tether_core::action::Action;
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, IdempotencyKey, TenantId, UserId};
use tether_core::port::BoxFuture;
use tether_core::port::actions::{
    ActionStore, Change, Filter, HistoryEvent, NewAction, Page, Proposed, StoreError, Swap,
};

use self::writer::Writer;
use super::full::is_full;
use super::readers::Readers;
use crate::row::Fault;

/// Connections that read at the same time. More would only wait for the same disk.
const READERS: usize = 4;

/// How long a lock of somebody else (a backup, a curious person) is waited for.
const FOREIGN_LOCK: Duration = Duration::from_secs(5);

/// The [`ActionStore`] on SQLite: one file, one thread that writes, a few
/// connections that read. Dropping it lets that thread finish what it was given.
///
/// A row that does not fit its fingerprint was changed by somebody else. Loading or
/// moving its action is an error; lists and sweeps leave it out, and log its id.
pub struct SqliteActions {
    writer: Writer,
    readers: Arc<Readers>,
}

impl SqliteActions {
    /// Opens the file at `path`, making it if it is not there (its folder must be),
    /// and brings its schema up to date. Blocks: call it before serving begins.
    ///
    /// # Errors
    ///
    /// With a sentence for the operator: the folder is not there or cannot be
    /// written, the file is no database, or it is from a newer Tether.
    pub fn open(path: impl AsRef<Path>) -> anyhow::Result<Self> {
        // An absolute path is never taken for a URI, nor for `:memory:`.
        let path = std::path::absolute(path.as_ref())?;
        let connection = open_writer(&path)
            .with_context(|| format!("the actions cannot be kept in {}", path.display()))?;
        let writer = Writer::start(connection)?;
        Ok(Self { writer, readers: Readers::new(READERS, move || open_reader(&path)) })
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let found = self.readers.read(|connection| work(connection)).await.map_err(Fault::from);
        found.flatten().map_err(|fault| StoreError::Failed(fault.into()))
    }
}

fn open_writer(path: &Path) -> anyhow::Result<Connection> {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    anyhow::ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let cannot_write = || format!("the file, or its folder {}, cannot be written", folder.display());
    let mut connection = Connection::open_with_flags(path, flags).with_context(cannot_write)?;
    connection.busy_timeout(FOREIGN_LOCK)?;
    anyhow::ensure!(!connection.is_readonly("main")?, cannot_write());
    schema::update(&mut connection)?;
    Ok(connection)
}

fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(FOREIGN_LOCK)?;
    Ok(connection)
}

fn store_error(connection: &Connection, fault: Fault) -> StoreError {
    match fault {
        Fault::Sqlite(error) if is_full(connection, &error) => StoreError::Full,
        fault => StoreError::Failed(fault.into()),
    }
}

impl ActionStore for SqliteActions {
    fn propose(&self, action: NewAction) -> BoxFuture<'_, Result<Proposed, StoreError>> {
        Box::pin(self.writer.write(move |connection| writes::propose(connection, &action)))
    }

    fn proposed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        let (tenant, user, key) = (tenant.clone(), user.clone(), key.clone());
        Box::pin(self.read(move |connection| reads::proposed_with(connection, &tenant, &user, &key)))
    }

    fn confirmed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<ActionId>, StoreError>> {
        let (tenant, user, key) = (tenant.clone(), user.clone(), key.clone());
        Box::pin(self.read(move |connection| reads::confirmed_with(connection, &tenant, &user, &key)))
    }

    fn load<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        let tenant = tenant.clone();
        Box::pin(
            self.read(move |connection| {
                Ok(reads::numbered(connection, &tenant, id)?.map(|(_, action)| action))
            }),
        )
    }

    fn list<'a>(
        &'a self,
        tenant: &'a TenantId,
        filter: Filter,
        limit: usize,
        cursor: Option<String>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        let tenant = tenant.clone();
        Box::pin(
            self.read(move |connection| reads::list(connection, &tenant, &filter, limit, cursor.as_deref())),
        )
    }

    fn history<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Vec<HistoryEvent>, StoreError>> {
        let tenant = tenant.clone();
        Box::pin(self.read(move |connection| reads::history(connection, &tenant, id)))
    }

    fn swap(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>> {
        Box::pin(self.writer.write(move |connection| writes::swap(connection, &change)))
    }

    fn executing(&self) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        Box::pin(self.read(reads::executing))
    }

    fn overdue(&self, now: Timestamp, limit: usize) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        Box::pin(self.read(move |connection| reads::overdue(connection, now, limit)))
    }

    fn needed_components(&self) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>> {
        Box::pin(self.read(reads::needed_components))
    }

    fn erase_outputs(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        Box::pin(self.writer.write(move |connection| writes::erase_outputs(connection, before, limit)))
    }
}
