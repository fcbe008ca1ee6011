//! What one attempt of one call does with databases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tether_core::id::{DatabaseName, StepName};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{
    Begun, Connection, Rights, RowSet, Scope, Session, SqlError, Value, Work,
};

use super::bookkeeping::{self, Recorded};
use super::error::sql_error;
use super::file::DatabaseFile;
use super::guard::GuardedConnection;
use super::host::Host;
use super::statement::Sql;
use super::transaction::{self, Call};

/// See [`Session`].
pub(super) struct SqliteSession {
    host: Arc<Host>,
    scope: Scope,
    work: Work,
    /// When its time is over.
    until: Instant,
    /// Databases that were looked at, so that opening one again costs nothing.
    opened: Mutex<BTreeMap<DatabaseName, Arc<dyn Connection>>>,
}

impl SqliteSession {
    pub(super) fn new(host: Arc<Host>, scope: Scope, work: Work) -> Self {
        Self { host, scope, work, until: Instant::now() + work.time, opened: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, BTreeMap<DatabaseName, Arc<dyn Connection>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session for SqliteSession {
    fn open(&self, database: DatabaseName) -> BoxFuture<'_, Result<Arc<dyn Connection>, SqlError>> {
        Box::pin(async move {
            let opened = self.opened().get(&database).cloned();
            if let Some(opened) = opened {
                return Ok(opened);
            }
            let file = self.host.open(&self.scope, &database).await?;
            let Self { work, until, .. } = *self;
            let connection: Arc<dyn Connection> = Arc::new(SqliteConnection { file, work, until });
            self.opened().insert(database, Arc::clone(&connection));
            Ok(connection)
        })
    }
}

/// See [`Connection`].
struct SqliteConnection {
    file: Arc<DatabaseFile>,
    work: Work,
    until: Instant,
}

impl Connection for SqliteConnection {
    fn query(&self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>> {
        Box::pin(async move {
            let limits = *self.file.limits();
            let sql = Sql::new(sql, parameters, &limits)?;
            let read = move |connection: &mut GuardedConnection| {
                sql.query(connection, &limits).map(|(rows, _)| rows)
            };
            self.file.read(read).await
        })
    }

    fn lookup(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Option<JsonText>, SqlError>> {
        Box::pin(async move {
            let key = self.work.key;
            let recorded = self.file.read(move |connection| {
                bookkeeping::lookup(connection, key, step.as_ref())
                    .map_err(|error| sql_error(connection, error))
            });
            recorded.await?.map(output).transpose()
        })
    }

    fn begin(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Begun, SqlError>> {
        Box::pin(async move {
            let Work { rights, key, attempt, .. } = self.work;
            if rights == Rights::Read {
                return Err(SqlError::ReadOnly);
            }
            transaction::begin(&self.file, Call { key, attempt, step }, self.until).await
        })
    }
}

/// The output of a record.
///
/// # Errors
///
/// `Forbidden` once it was emptied: the write was done, and nobody knows any more
/// with what result; so it is neither answered nor done again.
pub(super) fn output(recorded: Recorded) -> Result<JsonText, SqlError> {
    match recorded {
        Recorded::Output(text) => JsonText::parse(text)
            .map_err(|error| SqlError::Other(format!("the recorded output was changed: {error}"))),
        Recorded::Emptied => Err(SqlError::Forbidden("its result is no longer kept".to_owned())),
    }
}
