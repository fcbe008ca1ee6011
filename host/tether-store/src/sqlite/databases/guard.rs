//! What SQL of components may do: SQLite's authorizer.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use tether_core::port::databases::SqlError;

/// Tables, indexes, views and triggers whose names begin so are Tether's own.
const PREFIX: &str = "tether_";

const OURS: &str = "names that begin with `tether_` are the host's";

const TEMPORARY: &str = "temporary things would outlive the call";

/// Functions that reach out of the database or into the engine.
const FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

/// What the SQL of a component is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A read, a preview, or a query outside a transaction.
    Read,
    /// A confirmed write, or a migration.
    Write,
}

/// Statements that a connection keeps prepared, the host's and the components'.
const KEPT: usize = 64;

/// A connection whose guard is up while it runs the SQL of a component, and else lets the
/// host do everything. It is set up once: to set one up again would have every statement
/// that is kept prepared anew.
pub(super) struct GuardedConnection {
    connection: Connection,
    purpose: Purpose,
    guard: Guard,
}

/// What was seen while the guard is up; none while it is not.
type Guard = Arc<Mutex<Option<Seen>>>;

impl GuardedConnection {
    /// Sets it up for SQL that is run for `purpose`.
    pub(super) fn new(mut connection: Connection, purpose: Purpose) -> rusqlite::Result<Self> {
        let guard = Guard::default();
        let noted = guard.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(noted) = &mut *noted else { return Authorization::Allow };
            noted.defines |= defines(&context.action);
            match judge(&context, purpose) {
                Ok(()) => Authorization::Allow,
                Err(refusal) => {
                    noted.refusal.get_or_insert(refusal);
                    Authorization::Deny
                }
            }
        }))?;
        connection.set_prepared_statement_cache_capacity(KEPT);
        Ok(Self { connection, purpose, guard })
    }
}

impl Deref for GuardedConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for GuardedConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// A connection that runs the SQL of a component, until it is dropped.
pub(super) struct Guarded<'c> {
    connection: &'c mut GuardedConnection,
}

/// What the authorizer saw of the statements that were prepared.
#[derive(Default)]
struct Seen {
    refusal: Option<SqlError>,
    defines: bool,
}

impl<'c> Guarded<'c> {
    /// Puts the guard up.
    pub(super) fn new(connection: &'c mut GuardedConnection) -> Self {
        *connection.guard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Seen::default());
        Self { connection }
    }

    /// What its SQL is run for.
    pub(super) fn purpose(&self) -> Purpose {
        self.connection.purpose
    }

    /// Why a statement was refused, if one was.
    pub(super) fn refusal(&self) -> Option<SqlError> {
        self.seen(|seen| seen.refusal.clone())
    }

    /// Judges a statement that was prepared, by its text: what no authorizer is told.
    /// Answers whether it defines or alters something.
    pub(super) fn vet(&self, text: &str) -> Result<bool, SqlError> {
        // SQLite would say only that it cannot be done within a transaction.
        if first_word(text).eq_ignore_ascii_case("vacuum") {
            return Err(SqlError::Forbidden("the host looks after the file".to_owned()));
        }
        let defines = self.seen(|seen| std::mem::take(&mut seen.defines));
        // New names of ALTER, parents of foreign keys and the bodies of views and
        // triggers are not shown to an authorizer when they are defined.
        if defines && names_our_own(text) {
            return Err(SqlError::Forbidden(OURS.to_owned()));
        }
        Ok(defines)
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        let mut guard = self.connection.guard.lock().unwrap_or_else(PoisonError::into_inner);
        look(guard.get_or_insert_default())
    }
}

impl Deref for Guarded<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection.connection
    }
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        *self.connection.guard.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Whether a text holds a name of Tether's own, however it is quoted: no quotes,
/// escapes or comments can stand within a name. Takes some literals for names too.
fn names_our_own(sql: &str) -> bool {
    sql.as_bytes().windows(PREFIX.len()).any(|bytes| bytes.eq_ignore_ascii_case(PREFIX.as_bytes()))
}

fn forbidden(what: &str) -> Result<(), SqlError> {
    Err(SqlError::Forbidden(what.to_owned()))
}

fn defines(action: &AuthAction<'_>) -> bool {
    use AuthAction::*;
    matches!(
        action,
        CreateIndex { .. }
            | CreateTable { .. }
            | CreateTrigger { .. }
            | CreateView { .. }
            | CreateVtable { .. }
            | AlterTable { .. }
            | DropIndex { .. }
            | DropTable { .. }
            | DropTrigger { .. }
            | DropView { .. }
            | DropVtable { .. }
    )
}

fn judge(context: &AuthContext<'_>, purpose: Purpose) -> Result<(), SqlError> {
    use AuthAction::*;
    // `CREATE TABLE temp.x` is no `CREATE TEMP TABLE` to the authorizer, and of
    // `CREATE TRIGGER temp.x ON main.t` it sees only the row in the temporary schema.
    let in_temp = context.database_name.is_some_and(|name| name.eq_ignore_ascii_case("temp"));
    if in_temp && (defines(&context.action) || matches!(context.action, Insert { .. })) {
        return forbidden(TEMPORARY);
    }
    match context.action {
        Select | Recursive => Ok(()),
        Read { table_name, .. } => ours(&[table_name]),
        Function { function_name } => {
            if FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function_name)) {
                return forbidden("this function reaches out of the database");
            }
            Ok(())
        }

        Transaction { .. } | Savepoint { .. } => forbidden("the host begins and ends transactions"),
        Attach { .. } | Detach { .. } => forbidden("only granted databases can be used"),
        // The full-text index asks by itself whether others changed the file.
        Pragma { pragma_name: "data_version", pragma_value: None } => Ok(()),
        Pragma { .. } => forbidden("the settings of a database are the host's"),
        CreateTempIndex { .. }
        | CreateTempTable { .. }
        | CreateTempTrigger { .. }
        | CreateTempView { .. }
        | DropTempIndex { .. }
        | DropTempTable { .. }
        | DropTempTrigger { .. }
        | DropTempView { .. } => forbidden(TEMPORARY),

        Insert { table_name } | Delete { table_name } | Update { table_name, .. } => {
            ours(&[table_name])?;
            write(purpose)
        }
        CreateTable { table_name } | DropTable { table_name } | Analyze { table_name } => {
            ours(&[table_name])?;
            write(purpose)
        }
        AlterTable { table_name, .. } => {
            ours(&[table_name])?;
            write(purpose)
        }
        CreateIndex { index_name: name, table_name }
        | DropIndex { index_name: name, table_name }
        | CreateTrigger { trigger_name: name, table_name }
        | DropTrigger { trigger_name: name, table_name } => {
            ours(&[name, table_name])?;
            write(purpose)
        }
        CreateView { view_name: name } | DropView { view_name: name } | Reindex { index_name: name } => {
            // The index that SQLite makes for a primary key is named after its table.
            ours(&[name.strip_prefix("sqlite_autoindex_").unwrap_or(name)])?;
            write(purpose)
        }
        CreateVtable { table_name, .. } | DropVtable { table_name, .. } => {
            ours(&[table_name])?;
            write(purpose)
        }

        // What this version of SQLite does not know is not allowed by a guess.
        _ => forbidden("this statement is not known to the host"),
    }
}

fn ours(names: &[&str]) -> Result<(), SqlError> {
    let starts =
        |name: &&str| name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
    if names.iter().any(starts) {
        return forbidden(OURS);
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case("dbstat")) {
        return forbidden("the pages of the file are the host's");
    }
    Ok(())
}

fn write(purpose: Purpose) -> Result<(), SqlError> {
    if purpose == Purpose::Read { Err(SqlError::ReadOnly) } else { Ok(()) }
}

/// The first word of a statement, comments and blanks before it skipped.
fn first_word(sql: &str) -> &str {
    let mut rest = sql.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}');
    loop {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else {
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            return &rest[..end];
        };
        rest = after.trim_ascii_start();
    }
}
