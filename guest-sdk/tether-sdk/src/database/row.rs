//! Rows, and how they become an author's types.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use super::DatabaseError;
use super::decode::{Cell, WholeRow};
use crate::bindings::tether::tool::database;

/// One row, its columns by name. Where the whole row is one thing, query for a
/// `Deserialize` type instead.
#[derive(Clone, Debug)]
pub struct Row {
    pub(super) columns: Rc<[String]>,
    pub(super) values: Vec<database::Value>,
}

impl Row {
    /// The value of a column, as any `Deserialize` type that fits it: integers
    /// that must not overflow, `Option` for NULL, an enum of plain names for
    /// text, `bool` also for the integers 0 and 1.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Mismatch`] where the row has no such column, or its
    /// value is of another type.
    pub fn get<T: DeserializeOwned>(&self, column: &str) -> Result<T, DatabaseError> {
        let position = self.columns.iter().position(|name| name == column);
        let Some(value) = position.and_then(|position| self.values.get(position)) else {
            return Err(DatabaseError::Mismatch(format!("no column `{column}`")));
        };
        T::deserialize(Cell(value)).map_err(|error| error.at(column).into())
    }
}

/// What a query may return rows as: any `Deserialize` type, or [`Row`].
///
/// A struct takes its fields from the columns of the same names and ignores
/// the other columns; a tuple takes them in order; anything else takes the
/// only column.
///
/// ```
/// use tether_sdk::prelude::*;
///
/// #[derive(Deserialize)]
/// struct Ticket { id: i64, title: String }
///
/// fn read(call: &Read) -> Result<(), DatabaseError> {
///     let tickets: Vec<Ticket> = call.query("main", "SELECT id, title FROM tickets", params![])?;
///     let open: i64 = call.query_one("main", "SELECT count(*) FROM tickets", params![])?;
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a row cannot be read as `{Self}`",
    label = "derive `Deserialize` for it, or read the row as `Row`"
)]
pub trait FromRow: Sized {
    /// Reads one row.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Mismatch`] where it does not fit.
    fn from_row(row: Row) -> Result<Self, DatabaseError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromRow for T {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        T::deserialize(WholeRow(&row)).map_err(Into::into)
    }
}

impl FromRow for Row {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        Ok(row)
    }
}

/// The rows of an answer, each as `T`.
pub(crate) fn typed<T: FromRow>(set: database::RowSet) -> Result<Vec<T>, DatabaseError> {
    let columns: Rc<[String]> = set.columns.into();
    let row = |values| Row { columns: Rc::clone(&columns), values };
    set.rows.into_iter().map(|values| T::from_row(row(values))).collect()
}

/// The only row. A second one is an error: which of them was meant?
pub(crate) fn exactly_one<T>(rows: Vec<T>) -> Result<T, DatabaseError> {
    at_most_one(rows)?.ok_or_else(|| DatabaseError::Mismatch("no row, where one is expected".into()))
}

/// The only row, if there is one.
pub(crate) fn at_most_one<T>(mut rows: Vec<T>) -> Result<Option<T>, DatabaseError> {
    let row = rows.pop();
    if !rows.is_empty() {
        let found = rows.len() + 1;
        return Err(DatabaseError::Mismatch(format!("{found} rows, where one is expected")));
    }
    Ok(row)
}

#[cfg(test)]
mod tests;
