//! Which database each scope used before: a file that was put in its place is no
//! proof that nothing was done.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

use rusqlite::{Connection, OptionalExtension as _};
use tether_core::fault::{self, Point};

use super::place::Place;
use crate::sqlite::left;

/// Ids that are kept in memory.
const MOST_SEEN: usize = 10_000;

/// The ids of databases by scope, in a file of the data folder, opened when first
/// needed. Everything here blocks.
pub(super) struct KnownDatabases {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
    /// Those that were looked up: an id stays what it is. Nobody waits here for a disk.
    seen: RwLock<HashMap<[String; 4], String>>,
}

impl KnownDatabases {
    /// Those that `databases.db` in `data_dir` lists.
    pub(super) fn of(data_dir: &Path) -> Self {
        Self { path: data_dir.join("databases.db"), connection: Mutex::default(), seen: RwLock::default() }
    }

    /// The id that the database at `place` had.
    pub(super) fn id(&self, place: &Place) -> rusqlite::Result<Option<String>> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(&place.known_as).cloned();
        if seen.is_some() {
            return Ok(seen);
        }
        let id: Option<String> = self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM databases WHERE component = ? AND tenant = ? AND name = ? AND place = ?",
                )?
                .query_row(place.known_as.each_ref(), |row| row.get(0))
                .optional()
        })?;
        if let Some(id) = &id {
            let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
            if seen.len() >= MOST_SEEN {
                seen.clear();
            }
            seen.insert(place.known_as.clone(), id.clone());
        }
        Ok(id)
    }

    /// Whether any scope used a database that was configured as `place`.
    pub(super) fn has(&self, place: &str) -> rusqlite::Result<bool> {
        if !self.path.exists() {
            return Ok(false); // and none is made
        }
        self.with(|connection| connection.prepare("SELECT 1 FROM databases WHERE place = ?")?.exists([place]))
    }

    /// Remembers for good that the database at `place` has this id.
    pub(super) fn remember(&self, place: &Place, id: &str) -> rusqlite::Result<()> {
        let [component, tenant, name, configured] = &place.known_as;
        self.with(|connection| {
            connection.execute(
                "INSERT INTO databases (component, tenant, name, place, id) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING",
                (component, tenant, name, configured, id),
            )?;
            Ok(())
        })
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let mut open = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        match &*open {
            Some(connection) => work(connection),
            None => work(open.insert(make(&self.path)?)),
        }
    }
}

fn make(path: &Path) -> rusqlite::Result<Connection> {
    left::sync(path, left::Whose::Ours)?;
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS databases (
             component TEXT NOT NULL,
             tenant    TEXT NOT NULL,
             name      TEXT NOT NULL,
             place     TEXT NOT NULL,
             id        TEXT NOT NULL,
             PRIMARY KEY (component, tenant, name, place)
         ) STRICT, WITHOUT ROWID",
    )?;
    fault::reached(Point::ListMade);
    Ok(connection)
}
