//! Threads, locks and the log, under the model checker.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use shuttle::sync::atomic::AtomicU64;
pub(crate) use shuttle::sync::{Mutex, MutexGuard};

use crate::sync::meet;

std::thread_local! {
    /// That of the execution which runs: all of its tasks are on one thread.
    static DISK: RefCell<Arc<Disk>> = RefCell::default();
}

/// See [`tokio::task::spawn_blocking`].
pub(crate) fn spawn_blocking(work: impl FnOnce() + Send + 'static) {
    drop(shuttle::thread::spawn(work));
}

/// Commits, by their numbers, and what of them is where.
#[derive(Default)]
pub(crate) struct Disk(std::sync::Mutex<Commits>);

#[derive(Default)]
struct Commits {
    last: u64,
    /// In the log: who reads sees these.
    seen: BTreeSet<u64>,
    durable: BTreeSet<u64>,
    /// Syncs until one fails.
    fails_at: Option<u32>,
}

impl Disk {
    /// A fresh one, whose `fails_at`-th sync fails.
    pub(crate) fn install(fails_at: Option<u32>) -> Arc<Self> {
        let disk = Arc::new(Self(std::sync::Mutex::new(Commits { fails_at, ..Commits::default() })));
        DISK.set(Arc::clone(&disk));
        disk
    }

    fn commits(&self) -> std::sync::MutexGuard<'_, Commits> {
        self.0.lock().unwrap()
    }

    /// Another commit is in the log.
    pub(crate) fn write(&self) -> u64 {
        meet();
        let mut commits = self.commits();
        commits.last += 1;
        let number = commits.last;
        commits.seen.insert(number);
        number
    }

    pub(crate) fn seen(&self) -> BTreeSet<u64> {
        meet();
        self.commits().seen.clone()
    }

    pub(crate) fn is_durable(&self, number: u64) -> bool {
        self.commits().durable.contains(&number)
    }

    /// What was not synced is lost; what is there is durable.
    pub(crate) fn read_anew(&self) {
        meet();
        let mut commits = self.commits();
        commits.seen = commits.durable.clone();
    }
}

/// The log.
pub(crate) struct File(Arc<Disk>);

/// See [`std::fs::OpenOptions`].
pub(crate) struct Options;

impl File {
    pub(crate) fn options() -> Options {
        Options
    }

    /// Covers what was written when it began.
    pub(crate) fn sync_data(&self) -> std::io::Result<()> {
        meet();
        let covered = self.0.commits().seen.clone();
        meet();
        let mut commits = self.0.commits();
        if let Some(left) = &mut commits.fails_at {
            *left = left.saturating_sub(1);
            if *left == 0 {
                commits.fails_at = None;
                return Err(std::io::Error::other("it could not be written"));
            }
        }
        commits.durable.extend(covered);
        Ok(())
    }
}

impl Options {
    pub(crate) fn read(&self, _: bool) -> &Self {
        self
    }

    pub(crate) fn write(&self, _: bool) -> &Self {
        self
    }

    pub(crate) fn open(&self, _: PathBuf) -> std::io::Result<File> {
        Ok(File(DISK.with_borrow(Arc::clone)))
    }
}
