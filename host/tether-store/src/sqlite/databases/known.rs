//! Which database each scope used before: a file that was put in its place is no
//! proof that nothing was done.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use rusqlite::{Connection, OptionalExtension as _};

use super::place::Place;

/// The ids of databases by scope, in a file of the data folder.
pub(super) struct KnownDatabases(Mutex<Connection>);

impl KnownDatabases {
    /// Opens `databases.db` in `data_dir`, making it if it is not there.
    pub(super) fn open(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join("databases.db");
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(&path)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
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
            Ok(connection)
        };
        let connection =
            open().with_context(|| format!("the list of databases cannot be kept in {}", path.display()))?;
        Ok(Self(Mutex::new(connection)))
    }

    /// The id that the database at `place` had. Blocks.
    pub(super) fn id(&self, place: &Place) -> rusqlite::Result<Option<String>> {
        self.connection()
            .prepare_cached(
                "SELECT id FROM databases WHERE component = ? AND tenant = ? AND name = ? AND place = ?",
            )?
            .query_row(place.known_as.each_ref(), |row| row.get(0))
            .optional()
    }

    /// Remembers for good that the database at `place` has this id. Blocks.
    pub(super) fn remember(&self, place: &Place, id: &str) -> rusqlite::Result<()> {
        let [component, tenant, name, configured] = &place.known_as;
        self.connection().execute(
            "INSERT INTO databases (component, tenant, name, place, id) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING",
            (component, tenant, name, configured, id),
        )?;
        Ok(())
    }

    fn connection(&self) -> std::sync::MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
