//! Which commits of a database of Tether's own are on the disk: group commit.
//!
//! A COMMIT only hands its pages to the system (`synchronous=NORMAL`), and the writer's
//! turn is given back at once. Whoever then comes first syncs the write-ahead log, for
//! all who wait by then; those who come meanwhile gather for the next sync, which the
//! same thread does. A lone commit costs one sync, on the thread that committed it.
//! Nobody is answered before a sync that began after its COMMIT has ended.
//!
//! What is not synced can be seen: SQLite shows it to every reader. It is not told: a
//! reader waits for a sync as well, unless everything that it could have seen is synced,
//! which costs it two atomic loads. Only statements within a transaction are answered at
//! once, whatever they saw: to wait there would be to hold the turn for a sync, and every
//! commit would pay its own again. What the handler makes of that is told when its attempt
//! ends, and [`records`] are asked first, which waits. (A request that it sends out of an
//! open transaction does not wait for the commits of others that it saw.)
//!
//! A failing sync leaves everything in doubt that it covered. The system may forget what
//! it could not write, and say that the next sync went well; so none is tried. From then
//! on nothing is told of the file, neither that something is there nor that it is not,
//! until the file is mended: see [`mend`](super::mend).
//!
//! [`records`]: tether_core::port::databases::Databases::records

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use tether_core::port::databases::SqlError;
use tokio::sync::oneshot;

use crate::sqlite::left::log_of;
use crate::sqlite::meet::{AtomicU64, File, Mutex, MutexGuard, spawn_blocking};
use crate::sqlite::{in_place, never};

/// Whoever waits for its answer.
pub(super) type Told = oneshot::Sender<Result<(), SqlError>>;

/// The commits and syncs of one file. Existing files have only doubts: SQLite syncs their
/// commits one by one, before anybody sees them.
pub(super) struct Syncs {
    path: PathBuf,
    /// COMMITs that began. Counted before, so that nobody sees one that is not counted.
    begun: AtomicU64,
    /// Of those, the ones that ended, one way or the other.
    ended: AtomicU64,
    /// Of those, the ones that are on the disk.
    synced: AtomicU64,
    /// Odd while the file is in doubt.
    doubts: AtomicU64,
    queue: Mutex<Queue>,
    /// The write-ahead log, as long as the writer's connection lives.
    log: Mutex<Option<Arc<File>>>,
}

#[derive(Default)]
struct Queue {
    /// For the next sync.
    waiting: Vec<Told>,
    /// For the one that runs, beside those whom it runs for.
    covered: Vec<Told>,
    /// The commits that ended before it began; 0 where none runs.
    covers: u64,
    /// Somebody syncs, and will look here again.
    led: bool,
}

/// A moment at which the file was not in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sound(u64);

/// What somebody may have seen: told once it is durable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    commits: u64,
    sound: Sound,
}

impl Syncs {
    /// Of the database file at `path`; all of it is on the disk.
    pub(super) fn of(path: &Path) -> Arc<Self> {
        Arc::new(Self {
            path: path.to_owned(),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            doubts: AtomicU64::new(0),
            queue: Mutex::default(),
            log: Mutex::default(),
        })
    }

    /// Now, unless the file is in doubt.
    pub(super) fn sound(&self) -> Option<Sound> {
        let doubts = self.doubts.load(Ordering::SeqCst);
        doubts.is_multiple_of(2).then_some(Sound(doubts))
    }

    /// What somebody may have seen who looked between `sound` and now.
    pub(super) fn seen(&self, sound: Sound) -> Seen {
        Seen { commits: self.begun.load(Ordering::SeqCst), sound }
    }

    /// Waits until what was `seen` is on the disk.
    ///
    /// # Errors
    ///
    /// `Unreachable` where that cannot be known: it is not to be told.
    pub(super) async fn durable(self: &Arc<Self>, seen: Seen) -> Result<(), SqlError> {
        if self.synced.load(Ordering::SeqCst) >= seen.commits && self.sound() == Some(seen.sound) {
            return Ok(());
        }
        let (told, answer) = oneshot::channel();
        if let Some(lead) = self.join(seen, told) {
            in_place(move || lead.run_once()).await;
        }
        match answer.await {
            Ok(durable) => durable,
            Err(_) => never().await,
        }
    }

    /// Lets `told` wait for a sync that covers what was `seen`. Whoever has committed calls
    /// this before it gives its turn back, so that it is in doubt with its commit.
    #[must_use = "nobody syncs otherwise"]
    pub(super) fn join(self: &Arc<Self>, seen: Seen, told: Told) -> Option<Lead> {
        let mut queue = self.queue();
        // Whoever waits may be gone, here and below; its commit is on the disk all the same.
        if self.sound() != Some(seen.sound) {
            let _ = told.send(Err(in_doubt()));
            return None;
        }
        if seen.commits <= queue.covers {
            queue.covered.push(told);
            return None;
        }
        queue.waiting.push(told);
        (!std::mem::replace(&mut queue.led, true)).then(|| Lead { syncs: self.clone(), done: false })
    }

    /// A COMMIT begins. Called with the turn.
    pub(super) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    /// It ended, one way or the other.
    pub(super) fn end(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    /// Syncs what has ended, all of it since `sound`. False where it is in doubt. Blocks.
    pub(super) fn sync(&self, sound: Sound) -> bool {
        self.sync_up_to(self.ended.load(Ordering::SeqCst), Some(sound))
    }

    fn sync_up_to(&self, ended: u64, sound: Option<Sound>) -> bool {
        let certain = || sound.is_some() && self.sound() == sound;
        if !certain() {
            return false;
        }
        if let Err(error) = self.log().and_then(|log| log.sync_data()) {
            self.doubt(&error);
        }
        if certain() {
            self.synced.fetch_max(ended, Ordering::SeqCst);
        }
        certain()
    }

    /// The write-ahead log: opened by its name once for each connection of the writer,
    /// which has made it by then and keeps it.
    fn log(&self) -> std::io::Result<Arc<File>> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &*log {
            return Ok(log.clone());
        }
        let opened = File::options().read(true).write(true).open(log_of(&self.path))?;
        Ok(log.insert(Arc::new(opened)).clone())
    }

    /// The writer's connection is another one from now on, and so may be its log.
    pub(super) fn forget_log(&self) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Nobody knows any more what of the file is on the disk, because of `why`.
    pub(super) fn doubt(&self, why: &dyn std::fmt::Display) {
        let queue = self.queue();
        if self.sound().is_some() {
            self.doubts.fetch_add(1, Ordering::SeqCst);
            drop(queue);
            tracing::error!(file = %self.path.display(), %why, "a database is in doubt until it can be mended");
        }
    }

    /// Everything that can be seen of the file is on the disk. Called with the turn, when
    /// nobody reads: who waited for what was before that has nothing to tell.
    pub(super) fn mended(&self) {
        let mut queue = self.queue();
        queue.waiting.drain(..).for_each(|told| drop(told.send(Err(in_doubt()))));
        // A sync that began before this covers nothing any more.
        queue.covers = 0;
        self.synced.store(self.ended.load(Ordering::SeqCst), Ordering::SeqCst);
        if self.sound().is_none() {
            self.doubts.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is told of a file that is in doubt.
pub(super) fn in_doubt() -> SqlError {
    SqlError::Unreachable("what of it is on the disk cannot be known yet".to_owned())
}

/// To sync for all who wait. Dropped before its end, it leaves them to who comes next.
pub(super) struct Lead {
    syncs: Arc<Syncs>,
    done: bool,
}

impl Lead {
    /// Syncs for those who wait, and has another thread sync for those who came meanwhile.
    /// Blocks.
    pub(super) fn run_once(mut self) {
        // None where a mended file has told them already: then others may lead by now.
        let Some(round) = self.next() else { return };
        self.sync(round);
        if let Some(round) = self.next() {
            spawn_blocking(move || {
                self.sync(round);
                while let Some(round) = self.next() {
                    self.sync(round);
                }
            });
        }
    }

    fn sync(&self, Round { mut together, ended, sound }: Round) {
        let durable = self.syncs.sync_up_to(ended, sound);
        {
            let mut queue = self.syncs.queue();
            queue.covers = 0;
            together.append(&mut queue.covered);
        }
        for told in together {
            let _ = told.send(if durable { Ok(()) } else { Err(in_doubt()) });
        }
    }

    /// The next sync; none, and the lead is over.
    fn next(&mut self) -> Option<Round> {
        let mut queue = self.syncs.queue();
        if queue.waiting.is_empty() {
            // Under the lock: whoever joins after this leads.
            queue.led = false;
            self.done = true;
            return None;
        }
        let ended = self.syncs.ended.load(Ordering::SeqCst);
        queue.covers = ended;
        Some(Round { together: std::mem::take(&mut queue.waiting), ended, sound: self.syncs.sound() })
    }
}

/// One sync: for all who wait when it begins, of the commits that ended by then.
struct Round {
    together: Vec<Told>,
    ended: u64,
    sound: Option<Sound>,
}

impl Drop for Lead {
    fn drop(&mut self) {
        if !self.done {
            let mut queue = self.syncs.queue();
            let covered = std::mem::take(&mut queue.covered);
            queue.waiting.extend(covered);
            queue.covers = 0;
            queue.led = false;
        }
    }
}
