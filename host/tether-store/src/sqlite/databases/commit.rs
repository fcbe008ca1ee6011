//! A commit: the record and the writes, both or neither.

use tether_core::fault::{self, Point};
use tether_core::json::JsonText;
use tether_core::port::databases::SqlError;

use super::bookkeeping;
use super::error::{sql_error, without_connection};
use super::stop::Stop;
use super::syncs::Told;
use super::transaction::Call;
use super::turn::Turn;

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
/// other processes are waited for as long as for a turn. `told` is answered once it is
/// durable. Blocks.
///
/// It is told an error where nothing is committed; or `Unreachable`, where that cannot be
/// known before the records can be asked.
pub(super) fn commit(
    mut turn: Turn,
    call: &Call,
    output: &JsonText,
    changed: &ChangedStatements,
    told: Told,
) {
    match record(&mut turn, call, output, changed).and_then(|()| turn.commit()) {
        Ok(()) => {
            fault::reached(Point::CommitRun);
            turn.answer(told);
        }
        Err(error) => {
            drop(turn);
            // Whoever waits may be gone.
            let _ = told.send(Err(error));
        }
    }
}

fn record(
    turn: &mut Turn,
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
    fault::reached(Point::RecordWritten);
    Ok(())
}
