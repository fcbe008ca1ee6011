//! The schema of the actions' file, in numbered steps.

mod adopt;

use anyhow::Context as _;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tether_core::fault::{self, Point};

use super::writes;

/// Statements that the connection keeps prepared: all of them.
const KEPT: usize = 128;

/// Applied in order, each once; the file's `user_version` counts them. A step that
/// was released is never edited.
const STEPS: &[&str] = &[
    include_str!("../../../migrations/001_actions.sql"),
    include_str!("../../../migrations/002_handlers.sql"),
    include_str!("../../../migrations/003_chain.sql"),
    include_str!("../../../migrations/004_tokens.sql"),
    include_str!("../../../migrations/005_sessions.sql"),
    include_str!("../../../migrations/006_hooks.sql"),
    include_str!("../../../migrations/007_confirm_keys.sql"),
];

/// How many steps there were before histories were chained.
const UNCHAINED: usize = 2;

/// Sets the connection up, and brings the file to the newest schema.
pub(super) fn update(connection: &mut Connection) -> anyhow::Result<()> {
    configure(connection).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => anyhow::anyhow!("the file is no SQLite database"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            anyhow::anyhow!(error).context("the file, or its folder, cannot be written")
        }
        _ => error.into(),
    })?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    anyhow::ensure!(
        version <= STEPS.len(),
        "the file was written by a newer Tether (schema {version}; this one knows {}): use that one, \
         or another data folder",
        STEPS.len()
    );
    for (index, step) in STEPS.iter().enumerate().skip(version) {
        transaction.execute_batch(step).with_context(|| format!("schema step {} failed", index + 1))?;
        transaction.pragma_update(None, "user_version", i64::try_from(index + 1)?)?;
        fault::reached(Point::SchemaWritten);
    }
    // Only what comes from before: whatever else has no hash is what somebody put there.
    if version <= UNCHAINED {
        adopt::chain_history(&transaction).context("the history of before cannot be taken over")?;
        fault::reached(Point::SchemaWritten);
    }
    transaction.commit()?;
    fault::reached(Point::SchemaKept);
    Ok(())
}

/// Whether nothing was ever kept in the file.
pub(super) fn is_new(connection: &Connection) -> bool {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)) == Ok(0_i64)
}

/// Whether the file has the newest schema, for those who may not write to it.
pub(super) fn check(connection: &Connection) -> anyhow::Result<()> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    anyhow::ensure!(
        usize::try_from(version) == Ok(STEPS.len()),
        "it has schema {version}, and this Tether knows {}: use the one that wrote it, or serve it once \
         with this one",
        STEPS.len()
    );
    Ok(())
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A commit is on the disk before it returns.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    writes::overwrite(connection, "fast")?;
    connection.set_prepared_statement_cache_capacity(KEPT);
    connection.pragma_update(None, "trusted_schema", false)
}
