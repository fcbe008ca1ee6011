//! Where actions, records and databases are kept: core's ports `ActionStore` and
//! `Databases`, on SQLite.
//!
//! Both answer only what is durable, and neither ever blocks a thread of the
//! runtime: SQLite runs on threads that may wait.

mod file_name;
mod row;
mod sqlite;

pub use row::history::Chained;
pub use sqlite::actions::SqliteActions;
pub use sqlite::actions::archive::{Archive, Damaged, Kept};
pub use sqlite::databases::{OwnFile, RecordKey, SqliteDatabases};
