//! The databases that handlers work on, and the record in each of them.

use std::sync::Arc;

use crate::clock::Timestamp;
use crate::grant::Grants;
use crate::id::{ComponentName, DatabaseName, RequestId, StepName, TenantId};
use crate::json::JsonText;
use crate::port::BoxFuture;
use crate::tool::Migration;

/// Which databases: a component's, for one tenant.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The tenant.
    pub tenant: TenantId,
    /// The component.
    pub component: ComponentName,
    /// What it was granted.
    pub grants: Grants,
    /// Its migrations, in order, of all its databases.
    pub migrations: Arc<[Migration]>,
}

/// What a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Reads and previews: opened read-only.
    Read,
    /// A confirmed write.
    Write,
}

/// What a session is for: one attempt of one call.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// What it may do.
    pub rights: Rights,
    /// The call's key.
    pub key: RequestId,
    /// The attempt.
    pub attempt: u32,
    /// How long it takes at most: its statements are stopped then, and its transaction is
    /// undone.
    pub time: std::time::Duration,
}

/// Bounds on what one statement may take.
#[derive(Debug, Clone, Copy)]
pub struct SqlLimits {
    /// Rows of one answer.
    pub max_rows: usize,
    /// Bytes of one answer, and of one statement with its parameters.
    pub max_bytes: usize,
    /// How long a transaction may stay open.
    pub transaction_time: std::time::Duration,
    /// How long a writer's turn is waited for.
    pub turn_time: std::time::Duration,
    /// How long a read outside a transaction may take.
    pub read_time: std::time::Duration,
    /// How long one migration may take; it runs to its end even if the call that
    /// came upon it is gone.
    pub migration_time: std::time::Duration,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self {
            max_rows: 10_000,
            max_bytes: 8 << 20,
            transaction_time: std::time::Duration::from_secs(5),
            turn_time: std::time::Duration::from_secs(10),
            read_time: std::time::Duration::from_secs(20),
            migration_time: std::time::Duration::from_secs(60),
        }
    }
}

/// One SQL value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value; 0 or 1 where the engine has none.
    Boolean(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A double.
    Real(f64),
    /// UTF-8 text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// What a query found.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSet {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

/// Why a database did not do it; the guest sees the same cases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// No database of that name is granted.
    #[error("no such database is granted to this component")]
    NotGranted,
    /// A read tried to change something.
    #[error("a read changes no database")]
    ReadOnly,
    /// A constraint said no; the transaction goes on.
    #[error("constraint: {0}")]
    Constraint(String),
    /// Another writer held the database for too long.
    #[error("the database is busy")]
    Busy,
    /// Over a limit on rows or bytes.
    #[error("over the limit on rows or bytes")]
    TooLarge,
    /// The disk is full.
    #[error("the disk that holds the database is full")]
    StorageFull,
    /// It cannot be opened or asked now; nothing is known.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// Not something that a component may do.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// What the engine said.
    #[error("{0}")]
    Other(String),
}

/// What committed under a call's key.
#[derive(Debug, Clone)]
pub struct Record {
    /// In which database.
    pub database: DatabaseName,
    /// Under which step; none for the main record.
    pub step: Option<StepName>,
    /// In which attempt.
    pub attempt: u32,
    /// When.
    pub at: Timestamp,
    /// What the handler recorded.
    pub output: JsonText,
    /// The SQL text of the statements that changed something.
    pub statements: Vec<String>,
}

/// A record could not be asked for: nothing is known.
#[derive(Debug, thiserror::Error)]
#[error("the records cannot be read: {0}")]
pub struct Unreachable(pub String);

/// What does not let a bound action run on these databases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A database holds a migration that the component does not list.
    #[error("database `{database}` holds the migration `{migration}`, which this component does not have")]
    UnknownMigration {
        /// The database.
        database: DatabaseName,
        /// The migration.
        migration: String,
    },
}

/// Why a write cannot begin now, although nothing is wrong with it.
#[derive(Debug, thiserror::Error)]
pub enum NotNow {
    /// Something that it needs cannot be asked.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// The disk of a database was found full, and is full still.
    #[error("the disk that holds the database `{database}` is full")]
    StorageFull {
        /// The database.
        database: DatabaseName,
    },
}

/// The databases of a host.
pub trait Databases: Send + Sync + 'static {
    /// What one attempt of one call does with databases. Dropping it, and
    /// everything that came from it, undoes what is not committed.
    fn session(&self, scope: Scope, work: Work) -> Box<dyn Session>;

    /// Whether a write of `scope` can run on the databases as they are. Databases
    /// that were never opened fit. One whose disk was found full is tried out.
    fn fit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Result<(), Unfit>, NotNow>>;

    /// Every record of `key` in the databases of `scope`, the main one and steps.
    /// Takes the writer's turn of each database first: a COMMIT that was issued
    /// has ended when this answers, one way or the other. A database of the
    /// component's own that was never made holds none; an existing one that is
    /// missing, or another than it was, is unreachable.
    fn records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>>;

    /// Empties the outputs of the records of `key`; the records stay.
    fn empty_records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>>;
}

/// See [`Databases::session`].
pub trait Session: Send + Sync {
    /// Opens a granted database, applying the migrations that are missing.
    fn open(&self, database: DatabaseName) -> BoxFuture<'_, Result<Arc<dyn Connection>, SqlError>>;
}

/// A database, open for one attempt.
pub trait Connection: Send + Sync {
    /// Reads committed data, outside any transaction of this call.
    fn query(&self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>>;

    /// The output that was recorded for the session's key and this step.
    fn lookup(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Option<JsonText>, SqlError>>;

    /// Waits for the writer's turn and starts a transaction, or finds that the one
    /// of this step committed before.
    fn begin(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Begun, SqlError>>;
}

/// See [`Connection::begin`].
pub enum Begun {
    /// It is to be done now.
    Fresh(Box<dyn Transaction>),
    /// It was done, with this output.
    Recorded(JsonText),
}

/// An open transaction. Dropping it undoes it.
pub trait Transaction: Send {
    /// Reads within the transaction.
    fn query(&mut self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>>;

    /// Runs one statement; the number of rows that changed.
    fn execute(&mut self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<u64, SqlError>>;

    /// Records `output` under the session's key and the transaction's step, and
    /// commits: both or neither. Once polled it runs to its end, even if dropped.
    fn commit(self: Box<Self>, output: JsonText) -> BoxFuture<'static, Result<(), SqlError>>;
}
