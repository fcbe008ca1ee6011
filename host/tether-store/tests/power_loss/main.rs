//! The power goes out, at every step, and what was answered is there afterwards, whole.
//!
//! A workload with many writers at once runs on a disk that is watched ([`disk`],
//! [`vfs`]): each write, each name and each sync is written down in order, and between
//! them what was asked and what was told. Afterwards the power goes out at each of these
//! steps: a fresh folder is filled with what was synced by then, and with a random part
//! of what was not ([`model`]): sectors, lengths, names, a torn last write. The stores
//! are opened on it, and say what is there. What was told must be; what was only asked
//! for is there whole or not at all; and nothing else is ([`facts`]).
//!
//! By default this takes some seconds. At full length, every step of many workloads:
//!
//! ```text
//! TETHER_POWER_LOSS_SEEDS=20 cargo test -p tether-store --test power_loss
//! ```
//!
//! A failure prints its seed and step, and leaves the folder behind. With
//! `TETHER_POWER_LOSS_SEED=n` the seeds begin at that one (default: 1). A seed decides
//! what is asked for and lost; in which order the writers' threads come to it, it does
//! not.
#![cfg(target_os = "linux")]

mod disk;
mod facts;
mod folder;
mod model;
mod random;
mod stores;
mod vfs;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Runtime};

use self::disk::Disk;
use self::facts::Facts;
use self::folder::Folder;
use self::model::{Event, FileId, Model, Node};
use self::random::Random;
use self::stores::Stores;

/// Steps that are looked at where the length is not the full one.
const SOME: usize = 80;

/// Seeds, and how many steps of each are looked at; all, if none.
fn length() -> (std::ops::Range<u64>, Option<usize>) {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is no number")))
    };
    let first = number("TETHER_POWER_LOSS_SEED").unwrap_or(1);
    match number("TETHER_POWER_LOSS_SEEDS") {
        Some(seeds) => (first..first + seeds, None),
        None => (first..first + 1, Some(SOME)),
    }
}

/// What was done to a disk, from its first state on.
struct Trace {
    seed: u64,
    start: Model,
    events: Vec<Event>,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What the workload does to a disk.
fn trace(seed: u64) -> Trace {
    vfs::install();
    let folder = Folder::new();
    stores::prepare(folder.path());
    let start = Model::durable(folder.path());
    let disk = Disk::watch(folder.path(), &start);
    std::fs::create_dir(disk.0.root().join("data")).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(workload::run(&disk.0, seed));
    let events = disk.0.trace();
    Trace { seed, start, events }
}

impl Trace {
    /// Calls `check` with the disk after some of its steps, or all, and with what was
    /// asked and told by then. Answers how many these were, or the first failure.
    fn at_steps(
        &self,
        some: Option<usize>,
        check: impl Fn(&Model, &Facts, &mut Random) -> Result<(), String> + Sync,
    ) -> Result<usize, String> {
        let steps = self.events.iter().filter(|event| event.is_step()).count();
        let odds = some.map_or(steps, |some| some.min(steps));
        let (next, looked_at) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = || {
            let (mut model, mut facts, mut step) = (self.start.clone(), Facts::default(), 0);
            let mut mine = next.fetch_add(1, Ordering::Relaxed);
            for (index, event) in self.events.iter().enumerate() {
                model.apply(event);
                event.told().into_iter().for_each(|fact| facts.add(fact));
                if !event.is_step() {
                    continue;
                }
                if step == mine {
                    let mut random = Random::new(self.seed, 1 + step as u64);
                    // What a folder's sync is there for shows just before it, and seldom else.
                    let before = matches!(self.events.get(index + 1), Some(Event::FolderSynced(..)));
                    if random.below(steps) < odds || before && random.percent(50) {
                        looked_at.fetch_add(1, Ordering::Relaxed);
                        check(&model, &facts, &mut random).map_err(|wrong| {
                            // One failure is enough, for the other threads too.
                            next.store(steps, Ordering::Relaxed);
                            format!("seed {}, step {step} of {steps}: {wrong}", self.seed)
                        })?;
                    }
                    mine = next.fetch_add(1, Ordering::Relaxed);
                }
                step += 1;
            }
            Ok::<(), String>(())
        };
        std::thread::scope(|scope| {
            let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            running.into_iter().try_for_each(|thread| thread.join().unwrap())
        })?;
        Ok(looked_at.into_inner())
    }

    /// The same disk without the syncs that `swallowed` names.
    fn without(self, mut swallowed: impl FnMut(&Path) -> bool) -> Self {
        let mut paths = BTreeMap::new();
        let kept = |event: &Event| match event {
            Event::Named(path, Some(Node::File(file))) => {
                paths.insert(*file, path.clone());
                true
            }
            Event::FileSynced(file) => !paths.get(file).is_some_and(|path: &PathBuf| swallowed(path)),
            Event::FolderSynced(path, _) => !swallowed(path),
            _ => true,
        };
        let mut events = self.events;
        events.retain(kept);
        Self { events, ..self }
    }
}

/// The power goes out: what is left is what it must be.
fn lose(model: &Model, facts: &Facts, random: &mut Random) -> Result<(), String> {
    let folder = Folder::new();
    let lost = lose_in(&folder, model, facts, random);
    lost.map_err(|wrong| format!("{wrong}\nSee {}", folder.keep().display()))
}

fn lose_in(folder: &Folder, model: &Model, facts: &Facts, random: &mut Random) -> Result<(), String> {
    model.powerless(folder.path(), random);
    look(folder.path(), facts)
}

/// A host starts in the folder `root`, and finds what it must.
fn look(root: &Path, facts: &Facts) -> Result<(), String> {
    std::fs::create_dir_all(root.join("data")).unwrap();
    let stores = Stores::open(root)?;
    let found = runtime().block_on(stores.say(root, facts))?;
    facts.check(&found)?;
    drop(stores);
    stores::check_files(root)
}

/// A process is killed, the next one answers what it finds, and then the power goes out.
/// Syncs of what the first one left come to nothing, where they are `swallowed`.
fn kill_and_lose(
    model: &Model,
    facts: &Facts,
    random: &mut Random,
    swallowed: fn(&Event) -> bool,
) -> Result<(), String> {
    let folder = Folder::new();
    model.killed(folder.path());
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    let disk = Disk::watch(folder.path(), model);
    let stores = Stores::open(disk.0.root())?;
    let (mut model, mut facts) = (model.clone(), facts.clone());
    runtime().block_on(async {
        let found = stores.say(disk.0.root(), &facts).await?;
        facts.check(&found).map_err(|wrong| format!("after the process was killed: {wrong}"))?;
        facts.learn(&found);
        match random.percent(50) {
            true => workload::write_everywhere(&stores, &disk.0, random).await,
            false => Ok(()),
        }
    })?;
    // Now, while the files are open: closing them would sync.
    let mut changed = Changed::default();
    for event in disk.0.trace() {
        event.told().into_iter().for_each(|fact| facts.add(fact));
        if changed.covers(&event) || !swallowed(&event) {
            model.apply(&event);
        }
    }
    lose_in(&Folder::new(), &model, &facts, random)
}

/// What a process changed itself, so far.
#[derive(Default)]
struct Changed {
    files: BTreeSet<FileId>,
    folders: BTreeSet<PathBuf>,
}

impl Changed {
    /// Whether what `event` syncs was changed before; any other event may be a change.
    fn covers(&mut self, event: &Event) -> bool {
        match event {
            Event::FileSynced(file) => return self.files.contains(file),
            Event::FolderSynced(folder, _) => return self.folders.contains(folder),
            Event::Changed(file, _) => self.files.extend([*file]),
            Event::Named(path, _) => self.folders.extend(path.parent().map(Path::to_owned)),
            Event::Told(_) => {}
        };
        true
    }
}

#[test]
fn what_was_told_survives_and_the_rest_is_there_whole_or_not_at_all() {
    let (seeds, some) = length();
    for seed in seeds {
        let trace = trace(seed);
        let looked_at = trace.at_steps(some, lose).unwrap_or_else(|wrong| panic!("{wrong}"));
        eprintln!("seed {seed}: the power went out at {looked_at} steps");
    }
}

#[test]
fn what_a_killed_process_left_survives_once_the_next_one_has_told_it() {
    let (seeds, some) = length();
    for seed in seeds {
        let kill = |model: &_, facts: &_, random: &mut _| kill_and_lose(model, facts, random, |_| false);
        let looked_at = trace(seed).at_steps(some, kill).unwrap_or_else(|wrong| panic!("{wrong}"));
        eprintln!("seed {seed}: a process was killed at {looked_at} steps");
    }
}

#[test]
fn a_missing_sync_is_found() {
    let named = |ending: &'static str| move || move |path: &Path| path.to_string_lossy().ends_with(ending);
    check_found("a write-ahead log", named("-wal"));
    check_found("a rollback journal", named("-journal"));
    check_found("a database file", named(".db"));
    check_found("a folder", || |path: &Path| path.extension().is_none());
    check_found("the end of a rollback journal", || {
        let mut synced = 0;
        // Its folder; the first time, so that the data folder is there.
        move |path: &Path| {
            synced += usize::from(path == Path::new(""));
            path == Path::new("") && synced > 1
        }
    });
}

#[test]
fn a_missing_sync_of_what_a_killed_process_left_is_found() {
    type Kind = (&'static str, fn(&Event) -> bool);
    let kinds: [Kind; 2] = [
        ("what it had committed", |event| matches!(event, Event::FileSynced(_))),
        ("the folders that it had made", |event| matches!(event, Event::FolderSynced(..))),
    ];
    for (what, swallowed) in kinds {
        let kill = |model: &_, facts: &_, random: &mut _| kill_and_lose(model, facts, random, swallowed);
        let found = (1..20).any(|seed| trace(seed).at_steps(Some(SOME), kill).is_err());
        assert!(found, "nothing was lost, although {what} was never synced");
    }
}

/// Without these syncs something that was told is lost, or a file is damaged.
fn check_found<S: FnMut(&Path) -> bool>(what: &str, swallowed: impl Fn() -> S) {
    let lossy = |model: &_, facts: &_, random: &mut _| lose_in(&Folder::new(), model, facts, random);
    let found = (1..20).any(|seed| trace(seed).without(swallowed()).at_steps(Some(SOME), lossy).is_err());
    assert!(found, "nothing was lost, although {what} was never synced");
}
