//! A transaction of a write, while it is open.

use super::{DatabaseError, FromRow, Value, at_most_one, exactly_one, raw, typed};
use crate::bindings::tether::tool::database;

/// The open transaction that [`Write::once`](crate::Write::once) and
/// [`Write::step`](crate::Write::step) hand to their closure. It commits, with
/// its output, when the closure returns `Ok`; otherwise it is undone.
///
/// Transactions are serializable, and the host ends one that stays open for
/// too long (5 s). A statement that breaks a rule of the database leaves the
/// transaction usable.
#[derive(Debug)]
pub struct Transaction(database::Transaction);

impl Transaction {
    pub(crate) fn new(inner: database::Transaction) -> Self {
        Self(inner)
    }

    /// Changes something, and returns how many rows changed.
    ///
    /// # Errors
    ///
    /// What the database says; [`DatabaseError::Constraint`] where a rule said
    /// no and the transaction goes on.
    pub fn execute(&self, sql: &str, parameters: Vec<Value>) -> Result<u64, DatabaseError> {
        Ok(self.0.execute(sql, &raw(parameters))?)
    }

    /// The rows of a `SELECT`, or of a statement with `RETURNING`.
    ///
    /// # Errors
    ///
    /// What the database says; [`DatabaseError::Mismatch`] where a row is no `T`.
    pub fn query<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<Vec<T>, DatabaseError> {
        typed(self.0.query(sql, &raw(parameters))?)
    }

    /// The only row.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query); [`DatabaseError::Mismatch`] also where there
    /// is no row, or more than one.
    pub fn query_one<T: FromRow>(&self, sql: &str, parameters: Vec<Value>) -> Result<T, DatabaseError> {
        exactly_one(self.query(sql, parameters)?)
    }

    /// The only row, if there is one.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query); [`DatabaseError::Mismatch`] also where there
    /// is more than one.
    pub fn query_optional<T: FromRow>(
        &self,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<Option<T>, DatabaseError> {
        at_most_one(self.query(sql, parameters)?)
    }

    /// Records the output and commits, both or neither.
    pub(crate) fn commit(self, output: &str) -> Result<(), DatabaseError> {
        Ok(database::Transaction::commit(self.0, output)?)
    }
}
