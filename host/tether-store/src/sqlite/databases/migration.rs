//! One migration, in one transaction with the note that it was applied.

use rusqlite::{Batch, fallible_iterator::FallibleIterator as _};
use tether_core::fault::{self, Point};
use tether_core::id::ComponentName;
use tether_core::port::databases::{SqlError, SqlLimits};
use tether_core::tool::Migration;

use super::bookkeeping;
use super::error::{sql_error, without_connection};
use super::guard::{Guarded, GuardedConnection};
use super::stop::Stop;
use super::turn::Turn;

/// Applies `migration`, durably; where it fails, the database is as before. Blocks.
pub(super) fn apply(
    turn: &mut Turn,
    component: &ComponentName,
    migration: &Migration,
    limits: &SqlLimits,
) -> Result<(), SqlError> {
    let connection = turn.connection(&Stop::after(limits.migration_time)).map_err(without_connection)?;
    let run = within_transaction(connection, component, migration);
    if run.is_err() && !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err() {
        turn.close();
    }
    let applied = run.and_then(|()| turn.commit()).and_then(|()| turn.sync());
    applied.inspect(|()| fault::reached(Point::Migrated)).map_err(|error| match error {
        SqlError::Busy | SqlError::StorageFull | SqlError::Unreachable(_) => error,
        SqlError::Forbidden(what) => {
            SqlError::Forbidden(format!("in the migration `{}`: {what}", migration.id))
        }
        error => SqlError::Other(format!("the migration `{}` failed: {error}", migration.id)),
    })
}

fn within_transaction(
    connection: &mut GuardedConnection,
    component: &ComponentName,
    migration: &Migration,
) -> Result<(), SqlError> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| sql_error(connection, error))?;
    run(connection, &migration.sql)?;
    if connection.is_autocommit() {
        return Err(SqlError::Other("a statement in it ended the transaction".to_owned()));
    }
    fault::reached(Point::MigrationRun);
    bookkeeping::add_migration(connection, component, migration)
        .inspect(|()| fault::reached(Point::MigrationNoted))
        .map_err(|error| sql_error(connection, error))
}

fn run(connection: &mut GuardedConnection, sql: &str) -> Result<(), SqlError> {
    let guarded = Guarded::new(connection);
    let refused = |error| guarded.refusal().unwrap_or_else(|| sql_error(&guarded, error));
    let mut statements = Batch::new(&guarded, sql);
    while let Some(mut statement) = statements.next().map_err(refused)? {
        guarded.vet(&statement.expanded_sql().unwrap_or_default())?;
        if statement.parameter_count() > 0 {
            return Err(SqlError::Other("a migration has no parameters".to_owned()));
        }
        let mut rows = statement.raw_query();
        while rows.next().map_err(refused)?.is_some() {}
        if guarded.is_autocommit() {
            return Ok(());
        }
    }
    Ok(())
}
