//! The one thread that writes.
//!
//! Writes that wait at the same time share one transaction and one sync, a
//! savepoint each. Nobody is answered before that sync.

use std::sync::mpsc;

use rusqlite::Connection;
use tether_core::port::actions::StoreError;
use tokio::sync::oneshot;

use super::store_error;
use crate::row::Fault;

/// Writes in one transaction, at most: bounds how long the first of them waits.
const TOGETHER: usize = 256;

/// Where writes are handed in.
pub(super) struct Writer {
    jobs: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    /// Starts the thread. It ends once the writer is dropped and its jobs are done.
    pub(super) fn start(connection: Connection) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel();
        std::thread::Builder::new().name("tether-actions".into()).spawn(move || run(&connection, &jobs))?;
        Ok(Self { jobs: sender })
    }

    /// Runs `work` and answers once its result is durable. It may run twice, where
    /// what it shared a transaction with could not be committed; what the first run
    /// did is undone then. Once polled, it is done even if the answer is not awaited.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let write = Write { work, outcome: None, reply };
        let gone = || StoreError::Failed("the thread that writes actions has ended".into());
        self.jobs.send(Box::new(write)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
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

fn run(connection: &Connection, jobs: &mpsc::Receiver<Box<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let mut together = vec![first];
        together.extend(jobs.try_iter().take(TOGETHER - 1));
        match commit(connection, &mut together) {
            Ok(()) => together.into_iter().for_each(|job| job.answer(None)),
            // One of them spoiled it for all: each on its own.
            Err(_) if together.len() > 1 => {
                for job in together {
                    let mut alone = [job];
                    let lost = commit(connection, &mut alone).err();
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

/// One transaction around all jobs: afterwards it is on the disk, or nothing is.
fn commit(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    let result = connection
        .execute_batch("BEGIN IMMEDIATE")
        .and_then(|()| jobs.iter_mut().try_for_each(|job| in_savepoint(connection, job)))
        .and_then(|()| connection.execute_batch("COMMIT"))
        .map_err(|error| store_error(connection, error.into()));
    if result.is_err() && !connection.is_autocommit() {
        // A transaction that cannot even be undone is closed with the process.
        if let Err(error) = connection.execute_batch("ROLLBACK") {
            tracing::error!(%error, "a failed transaction on the actions could not be rolled back");
        }
    }
    result
}

fn in_savepoint(connection: &Connection, job: &mut Box<dyn Job>) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT job")?;
    let end = if job.run(connection) { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" };
    // A full disk ends the whole transaction; then there is no savepoint to release,
    // and this error says that everything is to be done again.
    connection.execute_batch(end)
}
