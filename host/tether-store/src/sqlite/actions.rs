//! Actions in one SQLite file.

mod announcements;
pub(crate) mod archive;
mod hooks;
mod reads;
mod schema;
mod sessions;
#[cfg(test)]
mod tests;
mod tokens;
mod writer;
mod writes;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tether_core::action::Action;
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, IdempotencyKey, TenantId, UserId};
use tether_core::ledger::Ledger;
use tether_core::port::BoxFuture;
use tether_core::port::actions::{
    ActionStore, Change, Filter, HistoryEvent, Mark, NewAction, Page, Part, Proposed, Seen, StoreError, Swap,
};

use self::writer::Writer;
use super::full::is_full;
use super::left;
use super::readers::Readers;
use crate::row::Fault;

/// Connections that read at the same time. More would only wait for the same disk.
const READERS: u32 = 4;

/// How long a lock of somebody else (a backup, a curious person) is waited for.
const FOREIGN_LOCK: Duration = Duration::from_secs(5);

/// The [`ActionStore`] on SQLite: one file, one connection that writes, a few
/// that read.
///
/// A row that does not fit its fingerprint, or the last event of its history, was changed
/// by somebody else. Loading its action is an error; lists and sweeps leave it out, and log
/// its id.
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
    /// written, the file is no database, it is from a newer Tether, or it is gone
    /// while the databases beside it are still there.
    pub fn open(path: impl AsRef<Path>) -> anyhow::Result<Self> {
        // An absolute path is never taken for a URI, nor for `:memory:`.
        let path = std::path::absolute(path.as_ref())?;
        let connection = open_writer(&path)
            .with_context(|| format!("the actions cannot be kept in {}", path.display()))?;
        Ok(Self {
            writer: Writer::new(connection),
            readers: Readers::new(READERS, move || open_reader(&path)),
        })
    }

    /// Looks one action up: here, if it can be done at once.
    async fn look_up<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let at_once = self.readers.read_here(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            let found = work(connection);
            connection.busy_timeout(FOREIGN_LOCK)?;
            found
        });
        match at_once.map(|found| found.map_err(without_connection)) {
            None | Some(Err(StoreError::Busy)) => self.read(work).await,
            Some(found) => found,
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let found = self.readers.read(|connection| work(connection)).await.map_err(Fault::from);
        found.flatten().map_err(without_connection)
    }
}

fn open_writer(path: &Path) -> anyhow::Result<Connection> {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    anyhow::ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    check_there(path, &folder)?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let cannot_write = || format!("the file, or its folder {}, cannot be written", folder.display());
    // Its folder may have just been made.
    left::sync_names(path)?;
    left::sync(path, left::Whose::Ours)?;
    let mut connection = Connection::open_with_flags(path, flags).with_context(cannot_write)?;
    connection.busy_timeout(FOREIGN_LOCK)?;
    keep_plans(&connection)?;
    anyhow::ensure!(!connection.is_readonly("main")?, cannot_write());
    if schema::is_new(&connection) {
        check_not_lost("holds nothing, as if its -wal file were gone", &folder)?;
    }
    schema::update(&mut connection)?;
    Ok(connection)
}

fn check_there(path: &Path, folder: &Path) -> anyhow::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() == 0 => check_not_lost("is empty", folder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => check_not_lost("is gone", folder),
        // Opening it will tell.
        _ => Ok(()),
    }
}

/// An empty history beside databases that were written to would forget which writes
/// wait, and which were done.
fn check_not_lost(state: &str, folder: &Path) -> anyhow::Result<()> {
    let left = ["databases", "databases.db"].into_iter().find(|name| folder.join(name).exists());
    match left {
        None => Ok(()),
        Some(left) => anyhow::bail!(
            "the file {state}, but {} was used before: {left} is still there. Put the file back, or move \
             the folder away to begin anew",
            folder.display(),
        ),
    }
}

fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(FOREIGN_LOCK)?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// A statement that is kept is not prepared anew because its parameters changed.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn store_error(connection: &Connection, fault: Fault) -> StoreError {
    match fault {
        Fault::Sqlite(error) if is_full(connection, &error) => StoreError::Full,
        fault => without_connection(fault),
    }
}

/// The same, where the connection plays no part.
fn without_connection(fault: Fault) -> StoreError {
    match fault {
        Fault::Sqlite(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            StoreError::Busy
        }
        Fault::Damaged { id, what } => StoreError::Changed { id, what },
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
        Box::pin(self.look_up(move |connection| reads::proposed_with(connection, &tenant, &user, &key)))
    }

    fn confirmed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<ActionId>, StoreError>> {
        let (tenant, user, key) = (tenant.clone(), user.clone(), key.clone());
        Box::pin(self.look_up(move |connection| reads::confirmed_with(connection, &tenant, &user, &key)))
    }

    fn load<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>> {
        let tenant = tenant.clone();
        Box::pin(self.look_up(move |connection| reads::action(connection, &tenant, id)))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a TenantId,
        filter: Filter,
        limit: usize,
        cursor: Option<String>,
    ) -> BoxFuture<'a, Result<Page, StoreError>> {
        let tenant = tenant.clone();
        Box::pin(async move {
            let list = move |connection: &Connection| {
                reads::list(connection, &tenant, &filter, limit, cursor.as_deref())
            };
            self.read(list).await?.ok_or(StoreError::UnknownCursor)
        })
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

    fn note<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
        attempt: u32,
        ledger: Ledger,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let tenant = tenant.clone();
        let note = move |connection: &Connection| writes::note(connection, &tenant, id, attempt, &ledger);
        Box::pin(self.writer.write(note))
    }

    fn executing(&self) -> BoxFuture<'_, Result<Vec<Action>, StoreError>> {
        Box::pin(self.read(reads::executing))
    }

    fn overdue(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        Box::pin(self.read(move |connection| reads::overdue(connection, now, after, limit)))
    }

    fn needed_components(&self) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>> {
        Box::pin(self.read(reads::needed_components))
    }

    fn erase_outputs(
        &self,
        before: Timestamp,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        let erase =
            move |connection: &Connection| writes::erase_outputs(connection, before, now, after, limit);
        Box::pin(self.writer.write(erase))
    }

    fn erase_arguments(
        &self,
        before: Timestamp,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>> {
        let erase =
            move |connection: &Connection| writes::erase_arguments(connection, before, now, after, limit);
        Box::pin(self.writer.write(erase))
    }

    fn with_records(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>> {
        Box::pin(self.read(move |connection| reads::with_records(connection, now, after, limit)))
    }

    fn set_records_due<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
        due: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let tenant = tenant.clone();
        let set = move |connection: &Connection| writes::set_records_due(connection, &tenant, id, due);
        Box::pin(self.writer.write(set))
    }
}
