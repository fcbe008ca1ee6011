//! What Tether keeps in each database: its id, the migrations it had, the records.
//!
//! No STRICT here: an existing file is read by other programs too, and an older
//! SQLite could not open it any more.

use std::borrow::Cow;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};
use tether_core::clock::Timestamp;
use tether_core::id::{ComponentName, DatabaseName, RequestId, StepName, TenantId};
use tether_core::json::JsonText;
use tether_core::port::databases::Record;
use tether_core::tool::Migration;

/// The time of day in milliseconds, by the database's own clock.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// What a database says about itself.
#[derive(Debug)]
pub(super) struct Identity {
    /// Random, for good.
    pub(super) id: String,
    /// The only tenant that may use it.
    pub(super) owner: Option<String>,
}

/// Makes the tables where they are missing, and puts in the id and the owner where
/// there is none yet. Runs within a transaction.
pub(super) fn make(
    connection: &Connection,
    id: &str,
    owner: Option<&TenantId>,
) -> rusqlite::Result<Identity> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS tether_database (id TEXT NOT NULL, owner TEXT);
         CREATE TABLE IF NOT EXISTS tether_migrations (
             component TEXT NOT NULL,
             id        TEXT NOT NULL,
             digest    TEXT NOT NULL,
             at        INTEGER NOT NULL,
             PRIMARY KEY (component, id)
         );
         CREATE TABLE IF NOT EXISTS tether_records (
             key        TEXT NOT NULL,
             step       TEXT NOT NULL,
             attempt    INTEGER NOT NULL,
             output     TEXT,
             statements TEXT NOT NULL,
             at         INTEGER NOT NULL,
             PRIMARY KEY (key, step)
         );",
    )?;
    connection.execute(
        "INSERT INTO tether_database (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM tether_database)",
        [id],
    )?;
    if let Some(owner) = owner {
        connection.execute("UPDATE tether_database SET owner = ? WHERE owner IS NULL", [owner.as_str()])?;
    }
    connection.query_row("SELECT id, owner FROM tether_database", [], read_identity)
}

fn read_identity(row: &Row<'_>) -> rusqlite::Result<Identity> {
    Ok(Identity { id: row.get("id")?, owner: row.get("owner")? })
}

/// What a database says about itself, where it does, and the id and digest of each
/// migration of a component that it had.
pub(super) type Look = (Option<Identity>, Vec<(String, String)>);

/// Looks at a database on behalf of `component`. This is asked at every call: one statement
/// is one look.
pub(super) fn look(connection: &Connection, component: &ComponentName) -> rusqlite::Result<Look> {
    const LOOK: &str = "SELECT TRUE, id, owner FROM tether_database
         UNION ALL SELECT FALSE, id, digest FROM tether_migrations WHERE component = ?";
    let mut look = match connection.prepare_cached(LOOK) {
        Ok(look) => look,
        Err(_) if !is_kept(connection)? => return Ok((None, Vec::new())),
        // They were made this very moment; or else it fails again.
        Err(_) => connection.prepare_cached(LOOK)?,
    };
    let (mut identity, mut applied) = (None, Vec::new());
    let mut rows = look.query([component.as_str()])?;
    while let Some(row) = rows.next()? {
        match row.get(0)? {
            true => identity = Some(Identity { id: row.get(1)?, owner: row.get(2)? }),
            false => applied.push((row.get(1)?, row.get(2)?)),
        }
    }
    Ok((identity, applied))
}

/// Notes that a migration was applied, in the transaction that did so.
pub(super) fn add_migration(
    connection: &Connection,
    component: &ComponentName,
    migration: &Migration,
) -> rusqlite::Result<()> {
    connection.execute(
        &format!("INSERT INTO tether_migrations (component, id, digest, at) VALUES (?, ?, ?, {NOW})"),
        (component.as_str(), &migration.id, migration.digest().to_string()),
    )?;
    Ok(())
}

/// What was recorded under a key and step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// This output.
    Output(String),
    /// An output that is no longer kept.
    Emptied,
}

/// Looks a record up; none where nothing committed.
pub(super) fn lookup(
    connection: &Connection,
    key: RequestId,
    step: Option<&StepName>,
) -> rusqlite::Result<Option<Recorded>> {
    let output: Option<Option<String>> = connection
        .prepare_cached("SELECT output FROM tether_records WHERE key = ? AND step = ?")?
        .query_row((key.to_string(), stored_step(step)), |row| row.get(0))
        .optional()?;
    Ok(output.map(|output| output.map_or(Recorded::Emptied, Recorded::Output)))
}

/// Adds a record, in the transaction that it is about.
pub(super) fn add_record(
    connection: &Connection,
    key: RequestId,
    step: Option<&StepName>,
    attempt: u32,
    output: &JsonText,
    statements: &[String],
) -> rusqlite::Result<()> {
    let statements = serde_json::to_string(statements).expect("strings are JSON");
    connection
        .prepare_cached(&format!(
            "INSERT INTO tether_records (key, step, attempt, output, statements, at)
             VALUES (:key, :step, :attempt, :output, :statements, {NOW})"
        ))?
        .execute(named_params! {
            ":key": key.to_string(),
            ":step": stored_step(step),
            ":attempt": attempt,
            ":output": output.as_str(),
            ":statements": statements,
        })?;
    Ok(())
}

/// Every record of `key`, in the order in which they committed. An emptied one has
/// the output `null`.
pub(super) fn records(
    connection: &Connection,
    database: &DatabaseName,
    key: RequestId,
) -> anyhow::Result<Vec<Record>> {
    if !is_kept(connection)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT step, attempt, output, statements, at FROM tether_records WHERE key = ? ORDER BY at, rowid",
    )?;
    let mut rows = statement.query([key.to_string()])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let step: String = row.get("step")?;
        let output: Option<String> = row.get("output")?;
        records.push(Record {
            database: database.clone(),
            step: if step.is_empty() { None } else { Some(step.parse()?) },
            attempt: row.get("attempt")?,
            at: Timestamp::from_millis(row.get("at")?),
            output: JsonText::parse(output.unwrap_or_else(|| "null".to_owned()))?,
            statements: serde_json::from_str(&row.get::<_, String>("statements")?)?,
        });
    }
    Ok(records)
}

/// The key of a record, as it is in a file to which others may have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordKey {
    bytes: Vec<u8>,
    is_text: bool,
}

impl RecordKey {
    /// The key, if it is a text, as all are that Tether writes.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|_| self.is_text)
    }

    /// The same for people; what is no text is replaced.
    pub fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

impl FromSql for RecordKey {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(bytes) => Ok(Self { bytes: bytes.to_owned(), is_text: true }),
            ValueRef::Blob(bytes) => Ok(Self { bytes: bytes.to_owned(), is_text: false }),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for RecordKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = if self.is_text { ValueRef::Text(&self.bytes) } else { ValueRef::Blob(&self.bytes) };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// The keys of records that come after `after`, from the first where that is none, each
/// once; `limit` of them at most. The index of the records is all that is read.
pub(super) fn keys_after(
    connection: &Connection,
    after: Option<&RecordKey>,
    limit: usize,
) -> rusqlite::Result<Vec<RecordKey>> {
    if !is_kept(connection)? {
        return Ok(Vec::new());
    }
    // Every text comes after the empty one, and what is no text after them all.
    let (comes, after) = after.map_or((">=", &"" as &dyn ToSql), |after| (">", after));
    let sql = format!("SELECT DISTINCT key FROM tether_records WHERE key {comes} ? ORDER BY key LIMIT ?");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection.prepare_cached(&sql)?.query_map((after, limit), |row| row.get(0))?.collect()
}

/// Empties the outputs of all records of `key`.
pub(super) fn empty_records(connection: &Connection, key: RequestId) -> rusqlite::Result<()> {
    if is_kept(connection)? {
        connection.execute("UPDATE tether_records SET output = NULL WHERE key = ?", [key.to_string()])?;
    }
    Ok(())
}

/// The main record has the step '': no step's name is empty.
fn stored_step(step: Option<&StepName>) -> &str {
    step.map_or("", |step| step.as_str())
}

fn is_kept(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tether_records'")?
        .exists([])
}

#[cfg(test)]
mod tests;
