//! One connection that writes, for all.
//!
//! Writes that wait at the same time share one transaction and one sync; where one of them
//! fails, which is seldom, each gets its own. (A savepoint for each would copy every page
//! that it changes.) Nobody is answered before that sync. Whoever comes while nobody writes does so on
//! its own thread, so that a lone write waits for the disk and for nothing else; those who
//! came meanwhile are written by another thread, together.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tether_core::port::actions::StoreError;
use tokio::sync::{oneshot, watch};

use super::store_error;
use crate::row::Fault;
use crate::sqlite::failed_commit::{bury, is_undone};
use crate::sqlite::{execute, in_place};

/// Writes in one transaction, at most: bounds how long the first of them waits.
const TOGETHER: usize = 256;

/// Where writes are handed in.
pub(super) struct Writer {
    desk: Arc<Desk>,
}

impl Writer {
    /// Writes with `connection`.
    pub(super) fn new(connection: Connection) -> Self {
        let state = State { connection: Some(connection), waiting: VecDeque::new() };
        let (commits, _) = watch::channel(());
        Self { desk: Arc::new(Desk { state: Mutex::new(state), commits }) }
    }

    /// To be told of every commit from now on, once it is durable.
    pub(super) fn commits(&self) -> watch::Receiver<()> {
        self.desk.commits.subscribe()
    }

    /// Runs `work` and answers once its result is durable. It may run twice, where
    /// what it shared a transaction with could not be committed; what the first run
    /// did is undone then. Once polled, it is done even if the answer is not awaited.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        if let Some(lead) = self.desk.hand_in(Box::new(Write { work, outcome: None, reply })) {
            in_place(move || lead.run_once()).await;
        }
        answer.await.map_err(|_| StoreError::Failed("whoever wrote the actions has died".into()))?
    }
}

/// What writers share.
struct Desk {
    state: Mutex<State>,
    /// Told whenever something was committed.
    commits: watch::Sender<()>,
}

struct State {
    /// While nobody writes.
    connection: Option<Connection>,
    waiting: VecDeque<Box<dyn Job>>,
}

impl Desk {
    /// Lets `job` wait; whoever gets the connection writes for all.
    #[must_use = "nobody writes otherwise"]
    fn hand_in(self: &Arc<Self>, job: Box<dyn Job>) -> Option<Lead> {
        let mut state = self.state();
        state.waiting.push_back(job);
        let connection = state.connection.take();
        connection.map(|connection| Lead { desk: Arc::clone(self), connection: Some(connection) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// To write for all who wait.
struct Lead {
    desk: Arc<Desk>,
    connection: Option<Connection>,
}

impl Lead {
    /// Writes what waits, and has another thread write what came meanwhile. Blocks.
    fn run_once(mut self) {
        self.write_next();
        if self.goes_on() {
            tokio::task::spawn_blocking(move || {
                while self.goes_on() {
                    self.write_next();
                }
            });
        }
    }

    /// Whether somebody waits. Where nobody does, the lead is over.
    fn goes_on(&mut self) -> bool {
        let mut state = self.desk.state();
        let over = state.waiting.is_empty();
        if over {
            // Under the lock: whoever comes after this leads.
            state.connection = self.connection.take();
        }
        !over
    }

    fn write_next(&self) {
        let Some(connection) = &self.connection else { return };
        let mut together: Vec<_> = {
            let waiting = &mut self.desk.state().waiting;
            let most = waiting.len().min(TOGETHER);
            waiting.drain(..most).collect()
        };
        match commit(connection, &mut together) {
            Ok(()) => {
                self.desk.commits.send_replace(());
                together.into_iter().for_each(|job| job.answer(None));
            }
            // One of them, or all together, cannot be kept: each on its own.
            Err(_) if together.len() > 1 => {
                for job in together {
                    let mut alone = [job];
                    let lost = commit(connection, &mut alone).err();
                    if lost.is_none() {
                        self.desk.commits.send_replace(());
                    }
                    let [job] = alone;
                    job.answer(lost);
                }
            }
            Err(lost) => together.into_iter().for_each({
                let mut lost = Some(lost);
                move |job| job.answer(lost.take())
            }),
        }
    }
}

impl Drop for Lead {
    /// Where it ended before its time, because a write panicked or the runtime is going
    /// away, those who wait are told so.
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        roll_back(&connection);
        let mut state = self.desk.state();
        state.connection = Some(connection);
        state.waiting.clear();
    }
}

/// A write, whatever it answers with.
trait Job: Send {
    /// Runs it. Whether it wants to be kept.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Answers: with what it found, or, where its transaction was not committed,
    /// with why.
    fn answer(self: Box<Self>, lost: Option<StoreError>);
}

struct Write<W, T> {
    work: W,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<W, T> Job for Write<W, T>
where
    W: FnMut(&Connection) -> Result<T, Fault> + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let outcome = (self.work)(connection).map_err(|fault| store_error(connection, fault));
        self.outcome.insert(outcome).is_ok()
    }

    fn answer(self: Box<Self>, lost: Option<StoreError>) {
        let answer = match (self.outcome, lost) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(lost)) => Err(lost),
            (Some(found), None) => found,
            (None, None) => Err(StoreError::Failed("a write was never run".into())),
        };
        // Whoever asked may be gone; the write is done all the same.
        let _ = self.reply.send(answer);
    }
}

/// One transaction around all jobs: afterwards it is on the disk, or nothing is.
///
/// Only on a disk that fails twice in a row, for the commit and for the one that would
/// bury it, may it come back once the process is killed, if it is. A claim that comes back
/// so has run nothing, and counts as an attempt that was interrupted; a note says that a
/// request may have left that did not; what else comes back is what somebody wanted.
fn commit(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let committed = execute(connection, "BEGIN IMMEDIATE").and_then(|()| {
        let wanted = jobs.iter_mut().all(|job| job.run(connection));
        if wanted { execute(connection, "COMMIT").map(|()| true) } else { Ok(false) }
    });
    let error = match committed {
        Ok(true) => return Ok(()),
        Ok(false) => {
            roll_back(connection);
            return Err(StoreError::Failed("one of these writes is not to be kept".into()));
        }
        Err(error) => error,
    };
    let (undone, told) = (is_undone(&error), store_error(connection, error.into()));
    roll_back(connection);
    if !undone && let Err(error) = bury(connection) {
        tracing::error!(%error, "a commit of actions failed, and may be there after a restart");
    }
    Err(told)
}

fn roll_back(connection: &Connection) {
    // A transaction that cannot even be undone is closed with the process.
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a failed transaction on the actions could not be rolled back");
    }
}
