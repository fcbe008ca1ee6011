//! SQLite's errors in the words of the contract.

use rusqlite::{Connection, Error, ErrorCode};
use tether_core::port::databases::SqlError;

use crate::sqlite::full::{is_full, says_full};

/// What a guest is told about `error`, the last one on `connection`.
pub(super) fn sql_error(connection: &Connection, error: Error) -> SqlError {
    if is_full(connection, &error) { SqlError::StorageFull } else { without_connection(error) }
}

/// The same, where the connection could not be had or plays no part.
pub(super) fn without_connection(error: Error) -> SqlError {
    if says_full(&error) {
        return SqlError::StorageFull;
    }
    let (code, message) = match error {
        Error::SqliteFailure(failure, message) => {
            (failure.code, message.unwrap_or_else(|| failure.to_string()))
        }
        // Its own text would repeat the statement.
        Error::SqlInputError { error, msg, .. } => (error.code, msg),
        Error::MultipleStatement => {
            return SqlError::Forbidden("several statements in one call".to_owned());
        }
        Error::Empty => return SqlError::Other("there is no statement in it".to_owned()),
        error => return SqlError::Other(error.to_string()),
    };
    match code {
        ErrorCode::ConstraintViolation => SqlError::Constraint(message),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SqlError::Busy,
        ErrorCode::TooBig => SqlError::TooLarge,
        ErrorCode::ReadOnly => SqlError::ReadOnly,
        ErrorCode::AuthorizationForStatementDenied => SqlError::Forbidden(message),
        ErrorCode::OperationInterrupted => {
            SqlError::Other("the statement was stopped: its time was over".to_owned())
        }
        ErrorCode::CannotOpen
        | ErrorCode::NotADatabase
        | ErrorCode::PermissionDenied
        | ErrorCode::SystemIoFailure => SqlError::Unreachable(message),
        // So SQLite refuses a write to its schema or to a virtual table's own tables.
        _ if message.contains("may not be modified") => SqlError::Forbidden(message),
        _ => SqlError::Other(message),
    }
}
