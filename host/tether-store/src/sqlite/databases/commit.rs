//! A commit: the record and the writes, both or neither.

use tether_core::json::JsonText;
use tether_core::port::databases::SqlError;

use super::bookkeeping::{self, Recorded};
use super::error::{sql_error, without_connection};
use super::file::Turn;
use super::stop::Stop;
use super::transaction::Call;

/// Statements whose text a record keeps.
const MOST_STATEMENTS: usize = 100;

/// Bytes of text that a record keeps in all.
const MOST_BYTES: usize = 16 << 10;

/// The texts of the statements that changed something: the first ones, whole.
#[derive(Default)]
pub(super) struct ChangedStatements {
    texts: Vec<String>,
    bytes: usize,
    full: bool,
}

impl ChangedStatements {
    /// Adds one, while there is room.
    pub(super) fn add(&mut self, text: &str) {
        let bytes = self.bytes + text.len();
        self.full |= self.texts.len() >= MOST_STATEMENTS || bytes > MOST_BYTES;
        if !self.full {
            self.bytes = bytes;
            self.texts.push(text.to_owned());
        }
    }
}

/// Records `output` and commits, with no regard to the transaction's clock; locks of
/// other processes are waited for as long as for a turn. Blocks.
///
/// # Errors
///
/// Nothing is committed then, as far as anybody can know: where the engine cannot
/// say, the record itself is asked.
pub(super) fn commit(
    mut turn: Turn,
    call: &Call,
    output: &JsonText,
    changed: &ChangedStatements,
) -> Result<(), SqlError> {
    let stop = Stop::after(turn.limits().turn_time);
    let connection = turn.connection(&stop).map_err(without_connection)?;
    let Call { key, attempt, step } = call;
    bookkeeping::add_record(connection, *key, step.as_ref(), *attempt, output, &changed.texts).map_err(
        |error| match sql_error(connection, error) {
            // Somebody recorded it since this transaction began, past the turn.
            SqlError::Constraint(_) => SqlError::Busy,
            error => error,
        },
    )?;
    let Err(error) = connection.execute_batch("COMMIT") else { return Ok(()) };
    let error = sql_error(connection, error);
    let undone = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
    let recorded = bookkeeping::lookup(connection, *key, step.as_ref());
    if !undone || recorded.is_err() {
        turn.close();
    }
    match recorded {
        Ok(Some(Recorded::Output(text))) if undone && text == output.as_str() => Ok(()),
        _ => Err(error),
    }
}
