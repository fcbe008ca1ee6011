//! What a database may answer instead of rows.

use std::fmt;

use crate::bindings::tether::tool::database;
use crate::error::{ToolError, failed, transient};

/// Why a database did not do as asked.
///
/// A tool that can go on, after a unique rule said no for instance, matches on
/// it; one that cannot writes `?`, which makes these of it:
///
/// | variant | `ToolError` | code |
/// | --- | --- | --- |
/// | `NotGranted` | failed | `DATABASE_NOT_GRANTED` |
/// | `ReadOnly` | failed | `DATABASE_READ_ONLY` |
/// | `Constraint` | failed | `DATABASE_CONSTRAINT` |
/// | `Busy` | transient | `DATABASE_BUSY` |
/// | `TooLarge` | failed | `DATABASE_TOO_LARGE` |
/// | `InvalidOutput` | failed | `RESULT_INVALID` |
/// | `StorageFull` | transient | `STORAGE_FULL` |
/// | `Forbidden` | failed | `DATABASE_FORBIDDEN` |
/// | `Mismatch` | failed | `DATABASE_MISMATCH` |
/// | `Other` | failed | `DATABASE_FAILED` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseError {
    /// No database of that name is granted to this component.
    NotGranted,
    /// A read, or a preview, tried to change something.
    ReadOnly,
    /// A unique, check, foreign-key or not-null rule said no; the engine's
    /// words for it. The transaction goes on.
    Constraint(String),
    /// Another writer held the database for too long, or the engine chose
    /// this transaction to give way.
    Busy,
    /// The rows, or the output, are over the host's limit.
    TooLarge,
    /// The output is not what the tool's output schema promises; where.
    InvalidOutput(String),
    /// The disk, or the database's share of it, is full.
    StorageFull,
    /// Not something a component may do: transaction control, another open
    /// transaction, anything after the main record.
    Forbidden(String),
    /// The rows are not what the tool's types expect: another number of rows,
    /// a missing column, a value of another type.
    Mismatch(String),
    /// What the engine said; not for branching.
    Other(String),
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGranted => f.write_str("this component was not granted that database"),
            Self::ReadOnly => f.write_str("a read may not change a database"),
            Self::Constraint(rule) => write!(f, "a rule of the database said no: {rule}"),
            Self::Busy => f.write_str("the database is busy"),
            Self::TooLarge => f.write_str("the rows or the output are too large"),
            Self::InvalidOutput(why) => write!(f, "the output breaks its schema: {why}"),
            Self::StorageFull => f.write_str("the database has no room left"),
            Self::Forbidden(why) => write!(f, "a component may not do this: {why}"),
            Self::Mismatch(why) => write!(f, "unexpected rows: {why}"),
            Self::Other(message) => write!(f, "the database failed: {message}"),
        }
    }
}

impl std::error::Error for DatabaseError {}

impl From<DatabaseError> for ToolError {
    fn from(error: DatabaseError) -> Self {
        let message = error.to_string();
        match error {
            DatabaseError::NotGranted => failed("DATABASE_NOT_GRANTED", message),
            DatabaseError::ReadOnly => failed("DATABASE_READ_ONLY", message),
            DatabaseError::Constraint(_) => failed("DATABASE_CONSTRAINT", message),
            DatabaseError::Busy => transient("DATABASE_BUSY", message),
            DatabaseError::TooLarge => failed("DATABASE_TOO_LARGE", message),
            DatabaseError::InvalidOutput(_) => failed("RESULT_INVALID", message),
            DatabaseError::StorageFull => transient("STORAGE_FULL", message),
            DatabaseError::Forbidden(_) => failed("DATABASE_FORBIDDEN", message),
            DatabaseError::Mismatch(_) => failed("DATABASE_MISMATCH", message),
            DatabaseError::Other(_) => failed("DATABASE_FAILED", message),
        }
    }
}

impl From<database::Error> for DatabaseError {
    fn from(error: database::Error) -> Self {
        match error {
            database::Error::NotGranted => Self::NotGranted,
            database::Error::ReadOnly => Self::ReadOnly,
            database::Error::Constraint(rule) => Self::Constraint(rule),
            database::Error::Busy => Self::Busy,
            database::Error::TooLarge => Self::TooLarge,
            database::Error::InvalidOutput(why) => Self::InvalidOutput(why),
            database::Error::StorageFull => Self::StorageFull,
            database::Error::Forbidden(why) => Self::Forbidden(why),
            database::Error::Other(message) => Self::Other(message),
        }
    }
}
