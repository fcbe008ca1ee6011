//! Plain SQLite: the rows that Tether writes for a proposal with its confirmation, in
//! one file and one transaction, one commit after the other.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use crate::rows::{ACTIONS, DATABASE, Rows};

/// The loop, and how far it has come.
pub(crate) struct Loop {
    file: Connection,
    rows: [Rows; 2],
    next: i64,
}

impl Loop {
    /// Makes a file at `path` with all tables and indexes of the data folder in which
    /// Tether has executed a write of `tickets`.
    pub(crate) fn make(path: &Path, data: &Path) -> anyhow::Result<Self> {
        let file = Connection::open(path)?;
        file.pragma_update(None, "journal_mode", "wal")?;
        file.pragma_update(None, "synchronous", "full")?;
        for statement in ACTIONS.schema(data)?.into_iter().chain(DATABASE.schema(data)?) {
            file.execute_batch(&statement)?;
        }
        Ok(Self { file, rows: [ACTIONS.newest(data)?, DATABASE.newest(data)?], next: 1 })
    }

    /// Rows of one transaction.
    pub(crate) fn rows(&self) -> usize {
        self.rows.iter().map(Rows::count).sum()
    }

    /// Commits per second during `length`.
    pub(crate) fn rate(&mut self, length: Duration) -> anyhow::Result<f64> {
        let (begin, first) = (Instant::now(), self.next);
        while begin.elapsed() < length {
            let transaction = self.file.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for rows in &mut self.rows {
                rows.insert(&transaction, self.next)?;
            }
            transaction.commit()?;
            self.next += 1;
        }
        Ok((self.next - first) as f64 / begin.elapsed().as_secs_f64())
    }
}
