//! The rows that Tether writes for one proposal with its confirmation. They are taken
//! from files in which it has written them, and so are the same whatever the tables
//! look like.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

/// A table, which rows of it belong to the newest action, and the columns that tell
/// one action's rows from another's.
struct Table {
    name: &'static str,
    newest: &'static str,
    number: Option<&'static str>,
    id: Option<&'static str>,
    /// Counted by SQLite: each copy gets a number of its own.
    counted: Option<&'static str>,
}

/// A file of a data folder and its tables that a write of `tickets` adds rows to.
pub(crate) struct File {
    name: &'static str,
    tables: &'static [Table],
}

/// Where actions are kept: the action, and a row for each change of its state.
pub(crate) const ACTIONS: File = File {
    name: "actions.db",
    tables: &[
        Table {
            name: "actions",
            newest: "number = (SELECT max(number) FROM actions)",
            number: Some("number"),
            id: Some("id"),
            counted: None,
        },
        Table {
            name: "history",
            newest: "action = (SELECT max(number) FROM actions)",
            number: Some("action"),
            id: None,
            counted: Some("number"),
        },
    ],
};

/// The component's own: the ticket, and the record.
pub(crate) const DATABASE: File = File {
    name: "databases/tickets/default/main.db",
    tables: &[
        Table {
            name: "tickets",
            newest: "id = (SELECT max(id) FROM tickets)",
            number: Some("id"),
            id: None,
            counted: None,
        },
        Table {
            name: "tether_records",
            newest: "rowid = (SELECT max(rowid) FROM tether_records)",
            number: None,
            id: Some("key"),
            counted: None,
        },
    ],
};

impl File {
    /// Where it is in a data folder.
    pub(crate) fn path(&self, data: &Path) -> PathBuf {
        data.join(self.name)
    }

    /// What makes its tables and indexes, in order.
    pub(crate) fn schema(&self, data: &Path) -> anyhow::Result<Vec<String>> {
        let file = self.open(data)?;
        let mut statement = file.prepare(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
        )?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// The rows of the newest action.
    pub(crate) fn newest(&self, data: &Path) -> anyhow::Result<Rows> {
        let file = self.open(data)?;
        self.tables.iter().map(|table| Copies::of(&file, table)).collect::<anyhow::Result<_>>().map(Rows)
    }

    fn open(&self, data: &Path) -> rusqlite::Result<Connection> {
        Connection::open_with_flags(self.path(data), OpenFlags::SQLITE_OPEN_READ_ONLY)
    }
}

/// Rows of one action, to be written again for others.
pub(crate) struct Rows(Vec<Copies>);

struct Copies {
    insert: String,
    rows: Vec<Vec<Value>>,
    number: Option<usize>,
    id: Option<usize>,
}

impl Rows {
    /// How many they are.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|copies| copies.rows.len()).sum()
    }

    /// Writes them for another action.
    pub(crate) fn insert(&mut self, into: &Connection, number: i64) -> rusqlite::Result<()> {
        for copies in &mut self.0 {
            let mut insert = into.prepare_cached(&copies.insert)?;
            for row in &mut copies.rows {
                if let Some(at) = copies.number {
                    row[at] = Value::Integer(number);
                }
                if let Some(at) = copies.id {
                    row[at] = Value::Text(id(number));
                }
                insert.execute(params_from_iter(row.iter()))?;
            }
        }
        Ok(())
    }
}

impl Copies {
    fn of(file: &Connection, table: &Table) -> anyhow::Result<Self> {
        let mut select = file.prepare(&format!("SELECT * FROM {} WHERE {}", table.name, table.newest))?;
        let columns = select.column_count();
        let at = |name: Option<&str>| name.map(|name| select.column_index(name)).transpose();
        let (number, id, counted) = (at(table.number)?, at(table.id)?, at(table.counted)?);
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        let mut rows: Vec<Vec<Value>> = select.query_map([], read)?.collect::<Result<_, _>>()?;
        if let Some(counted) = counted {
            rows.iter_mut().for_each(|row| row[counted] = Value::Null);
        }
        ensure!(!rows.is_empty(), "the table {} has no row of the newest action", table.name);
        let places = vec!["?"; columns].join(", ");
        Ok(Self { insert: format!("INSERT INTO {} VALUES ({places})", table.name), rows, number, id })
    }
}

/// An id as Tether makes them: 32 hex digits in no order.
fn id(number: i64) -> String {
    let scatter = |seed: u64| {
        // SplitMix64.
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let seed = number.cast_unsigned();
    format!("{:016x}{:016x}", scatter(seed), scatter(!seed))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_distinct_and_have_32_digits() {
        let ids: HashSet<_> = (0..1_000).map(id).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 32), "{ids:?}");
    }

    #[test]
    fn rows_are_copied_under_another_number_and_id() {
        let file = Connection::open_in_memory().expect("there is memory");
        file.execute_batch(
            "CREATE TABLE a (id TEXT UNIQUE, number INTEGER UNIQUE, text TEXT, count INTEGER PRIMARY KEY);
             INSERT INTO a VALUES ('old', 3, 'kept', 5), ('older', 2, 'not copied', 4);",
        )
        .expect("it is SQL");
        let newest = "number = (SELECT max(number) FROM a)";
        let table =
            Table { name: "a", newest, number: Some("number"), id: Some("id"), counted: Some("count") };
        let mut rows = Rows(vec![Copies::of(&file, &table).expect("there are rows")]);
        assert_eq!(rows.count(), 1);
        rows.insert(&file, 7).expect("nothing is in its way");
        let sql = "SELECT id, text, count FROM a WHERE number = 7";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let copy: (String, String, i64) = file.query_row(sql, [], read).expect("it is there");
        assert_eq!(copy, (id(7), "kept".into(), 6));
    }
}
