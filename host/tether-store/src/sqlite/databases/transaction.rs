//! An open transaction.
//!
//! It is shared by those who may end it: the calls of the guest, each on a thread
//! that may block; the clock; and whoever drops it, or one of its calls in the
//! middle. One lock decides between them. Whoever ends it gives the writer's turn
//! back, and undoes what is not committed before that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tether_core::fault::{self, Point};
use tether_core::id::{RequestId, StepName};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{Begun, RowSet, SqlError, Transaction, Value};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::bookkeeping;
use super::commit::{self, ChangedStatements};
use super::error::{sql_error, without_connection};
use super::file::{DatabaseFile, Pace};
use super::guard::GuardedConnection;
use super::session::output;
use super::statement::{Change, Sql};
use super::stop::Stop;
use super::syncs::{Seen, Told};
use super::turn::Turn;
use crate::sqlite::{answered, execute, in_place};

/// Whose transaction it is.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The call's key.
    pub(super) key: RequestId,
    /// The attempt.
    pub(super) attempt: u32,
    /// The step; none for the main transaction.
    pub(super) step: Option<StepName>,
}

/// Waits for the writer's turn and starts a transaction, which is undone at `until`; or
/// finds its record.
pub(super) async fn begin(file: &Arc<DatabaseFile>, call: Call, until: Instant) -> Result<Begun, SqlError> {
    let turn = file.turn().await?;
    fault::reached(Point::TurnTaken);
    let stop = Stop::after(file.limits().transaction_time).or_at(until);
    let guard = stop.on_drop();
    let started = {
        let (call, stop) = (call.clone(), stop.clone());
        // Where nobody waits any more, the turn is dropped with the answer.
        file.in_turn(turn, Pace::Brief, move |turn| start(turn, &call, &stop)).await
    };
    guard.disarm();
    match file.heed(started)? {
        // The turn is given back: others may commit while this waits.
        Started::Recorded(recorded, seen) => {
            file.durable(seen).await?;
            recorded.map(Begun::Recorded)
        }
        Started::Fresh(turn) => {
            Ok(Begun::Fresh(Box::new(SqliteTransaction::new(file.clone(), turn, call, stop))))
        }
    }
}

enum Started {
    Fresh(Turn),
    /// What a record leads to, told once what was seen is durable.
    Recorded(Result<JsonText, SqlError>, Seen),
}

fn start(mut turn: Turn, call: &Call, stop: &Stop) -> Result<Started, SqlError> {
    let connection = turn.connection(stop).map_err(without_connection)?;
    let read = |step| bookkeeping::lookup(connection, call.key, step);
    let found = execute(connection, "BEGIN IMMEDIATE").and_then(|()| {
        let own = read(call.step.as_ref())?;
        // Asked only for a step: for the main transaction it is the same record.
        let main = if call.step.is_some() { read(None)? } else { None };
        Ok((own, main))
    });
    let recorded = match found.map_err(|error| sql_error(connection, error))? {
        (None, None) => return Ok(Started::Fresh(turn)),
        (Some(recorded), _) => output(recorded),
        (None, Some(_)) => Err(SqlError::Forbidden("the main transaction has committed".to_owned())),
    };
    Ok(Started::Recorded(recorded, turn.seen()))
}

/// What those who may end a transaction share.
struct Shared {
    state: Mutex<State>,
    stop: Stop,
    runtime: Handle,
}

enum State {
    Open {
        turn: Turn,
        changed: ChangedStatements,
    },
    /// What every further call is told.
    Ended(SqlError),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Interrupts what runs and undoes everything, off this thread; nothing where it
    /// has ended before.
    fn end(self: &Arc<Self>, why: &str) {
        self.stop.cancel();
        let (shared, why) = (self.clone(), SqlError::Other(why.to_owned()));
        self.runtime.spawn_blocking(move || {
            let mut state = shared.state();
            if matches!(*state, State::Open { .. }) {
                *state = State::Ended(why);
            }
        });
    }

    /// Runs a statement. Ends the transaction where the statement, or the clock, did.
    fn run<T>(
        &self,
        work: impl FnOnce(&mut GuardedConnection) -> Result<(T, Change), SqlError>,
        text: &str,
    ) -> Result<(T, Change), SqlError> {
        let mut state = self.state();
        let (turn, changed) = match &mut *state {
            State::Open { turn, changed } => (turn, changed),
            State::Ended(why) => return Err(why.clone()),
        };
        let connection = turn.connection(&self.stop).map_err(without_connection)?;
        let result = work(connection);
        if self.stop.is_over() {
            let over = time_over();
            *state = State::Ended(over.clone());
            return Err(over);
        }
        // A full disk ends a transaction or only a statement, as SQLite sees fit; a guest
        // that overlooks it must not commit one half.
        let full = matches!(result, Err(SqlError::StorageFull));
        if full || connection.is_autocommit() {
            let ended = if full {
                SqlError::StorageFull
            } else {
                SqlError::Other("a statement ended the transaction: nothing of it is kept".to_owned())
            };
            *state = State::Ended(ended.clone());
            return Err(result.err().unwrap_or(ended));
        }
        if let Ok((_, change)) = &result
            && change.changed
        {
            changed.add(text);
        }
        result
    }
}

fn time_over() -> SqlError {
    SqlError::Other("the transaction was open for too long, and is undone".to_owned())
}

/// See [`Transaction`].
struct SqliteTransaction {
    file: Arc<DatabaseFile>,
    shared: Arc<Shared>,
    call: Call,
    clock: AbortHandle,
    /// Its end is nobody else's business any more: it is being committed.
    committing: bool,
}

impl SqliteTransaction {
    fn new(file: Arc<DatabaseFile>, turn: Turn, call: Call, stop: Stop) -> Self {
        let deadline = stop.deadline();
        let state = Mutex::new(State::Open { turn, changed: ChangedStatements::default() });
        let shared = Arc::new(Shared { state, stop, runtime: Handle::current() });
        let ticking = Arc::downgrade(&shared);
        let clock = tokio::spawn(async move {
            tokio::time::sleep_until(deadline.into()).await;
            if let Some(shared) = ticking.upgrade() {
                shared.end("the transaction was open for too long, and is undone");
            }
        });
        Self { file, shared, call, clock: clock.abort_handle(), committing: false }
    }

    async fn run<T: Send + 'static>(
        &self,
        sql: Result<Sql, SqlError>,
        work: impl FnOnce(&Sql, &mut GuardedConnection) -> Result<(T, Change), SqlError> + Send + 'static,
    ) -> Result<(T, Change), SqlError> {
        let sql = sql?;
        let abandoned = EndOnDrop(Some(self.shared.clone()));
        let shared = self.shared.clone();
        let result = in_place(move || shared.run(|connection| work(&sql, connection), sql.text())).await;
        if self.shared.stop.is_over() {
            // Whoever asked may have no time left, and could not be told while this ran.
            tokio::task::yield_now().await;
        }
        abandoned.disarm();
        self.file.heed(result)
    }
}

impl Transaction for SqliteTransaction {
    fn query(&mut self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>> {
        let limits = *self.file.limits();
        let sql = Sql::new(sql, parameters, &limits);
        Box::pin(async move {
            let (rows, _) = self.run(sql, move |sql, connection| sql.query(connection, &limits)).await?;
            Ok(rows)
        })
    }

    fn execute(&mut self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<u64, SqlError>> {
        let sql = Sql::new(sql, parameters, self.file.limits());
        Box::pin(async move {
            let ((), change) = self.run(sql, |sql, connection| Ok(((), sql.execute(connection)?))).await?;
            Ok(change.rows)
        })
    }

    fn commit(mut self: Box<Self>, output: JsonText) -> BoxFuture<'static, Result<(), SqlError>> {
        Box::pin(async move {
            self.committing = true;
            let (shared, call) = (self.shared.clone(), self.call.clone());
            let committed = answered(move |told: Told| {
                let over = SqlError::Other("the transaction has ended".to_owned());
                // Out of the clock's reach: from here on it ends by itself.
                let state = std::mem::replace(&mut *shared.state(), State::Ended(over));
                let why = match state {
                    State::Open { turn, changed } if !shared.stop.is_over() => {
                        return commit::commit(turn, &call, &output, &changed, told);
                    }
                    State::Open { .. } => time_over(),
                    State::Ended(why) => why,
                };
                let _ = told.send(Err(why));
            });
            self.file.heed(committed.await)
        })
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        self.clock.abort();
        if !self.committing {
            self.shared.end("the transaction was dropped");
        }
    }
}

/// Ends the transaction when a call on it is dropped before it is answered: nobody
/// knows then whether the statement ran.
struct EndOnDrop(Option<Arc<Shared>>);

impl EndOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.end("a call on the transaction was given up");
        }
    }
}
