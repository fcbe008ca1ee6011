//! SQL: parameters, rows, transactions, and what may go wrong with them.

mod decode;
mod error;
mod row;
mod transaction;
mod value;

pub use error::DatabaseError;
pub use row::{FromRow, Row};
pub use transaction::Transaction;
pub use value::Value;

pub(crate) use row::{at_most_one, exactly_one, typed};
pub(crate) use value::raw;
