//! What a workload did to a disk, and the disk at any step of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Builder;

use super::disk::{self, Disk};
use super::facts::{Fact, Facts};
use super::folder::Folder;
use super::model::{Event, Model, Node};
use super::random::Random;
use super::{stores, vfs, workload};

/// What was done to a disk, from its first state on.
pub(crate) struct Trace {
    seed: u64,
    start: Model,
    events: Vec<Event>,
    /// How many of them come before the first step that is looked at.
    skipped: usize,
}

impl Trace {
    /// What the workload does to a disk.
    pub(crate) fn of(seed: u64) -> Self {
        Self::record(seed, disk::SHORT, async |disk| workload::run(disk, seed, true).await)
    }

    /// What `work` does to a disk whose syncs take as long as `sync`.
    pub(crate) fn record(seed: u64, sync: Duration, work: impl AsyncFnOnce(&Arc<Disk>)) -> Self {
        vfs::install();
        let folder = Folder::new();
        stores::prepare(folder.path());
        let start = Model::durable(folder.path());
        let disk = Disk::watch(folder.path(), &start, sync);
        std::fs::create_dir(disk.0.root().join("data")).unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(work(&disk.0));
        Self { seed, start, events: disk.0.trace(), skipped: 0 }
    }

    /// Calls `check` with the disk after some of its steps, or all, and just after some
    /// answers, with what was asked and told by then. Answers how often that was, or the
    /// first failure.
    pub(crate) fn at_steps(
        &self,
        some: Option<usize>,
        check: impl Fn(&Model, &Facts, &mut Random) -> Result<(), String> + Sync,
    ) -> Result<usize, String> {
        let events = &self.events[self.skipped..];
        let steps = events.iter().filter(|event| event.is_place()).count();
        let answers = events.iter().filter(|event| event.is_answer()).count();
        let looks = |random: &mut Random, of: usize| random.below(of) < some.unwrap_or(of);
        let (next, looked_at) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = || {
            let (mut model, mut facts, mut step) = (self.start.clone(), Facts::default(), 0);
            let mut mine = next.fetch_add(1, Ordering::Relaxed);
            for (index, event) in self.events.iter().enumerate() {
                model.apply(event);
                event.told().into_iter().for_each(|fact| facts.add(fact));
                if !event.is_place() || index < self.skipped {
                    continue;
                }
                if step == mine {
                    let mut random = Random::new(self.seed, 1 + step as u64);
                    // What a folder's sync is there for shows just before it, and seldom else.
                    let before = matches!(self.events.get(index + 1), Some(Event::FolderSynced(..)));
                    if looks(&mut random, steps)
                        || event.is_answer() && looks(&mut random, answers)
                        || before && random.percent(50)
                    {
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

    /// How much was told that `counts`, and how often the log at `path` was synced.
    pub(crate) fn told_and_synced(&self, path: &str, counts: fn(&Fact) -> bool) -> (usize, usize) {
        let (mut logs, mut told, mut synced) = (BTreeSet::new(), 0, 0);
        for event in &self.events {
            match event {
                Event::Named(named, Some(Node::File(file))) if named == Path::new(path) => {
                    logs.insert(*file);
                }
                Event::FileSynced(file, _) if logs.contains(file) => synced += 1,
                Event::Told(fact) => told += usize::from(counts(fact)),
                _ => {}
            }
        }
        (told, synced)
    }

    /// The same, looked at from where a sync fails; none where none does.
    pub(crate) fn since_failure(self) -> Option<Self> {
        let fails = |event: &Event| matches!(event, Event::SyncFailed(..) | Event::FolderNotSynced);
        let skipped = self.events.iter().position(fails)?;
        Some(Self { skipped, ..self })
    }

    /// The same disk without the syncs that `swallowed` names.
    pub(crate) fn without(self, mut swallowed: impl FnMut(&Path) -> bool) -> Self {
        let mut paths = BTreeMap::new();
        let kept = |event: &Event| match event {
            Event::Named(path, Some(Node::File(file))) => {
                paths.insert(*file, path.clone());
                true
            }
            Event::FileSynced(file, _) => !paths.get(file).is_some_and(|path: &PathBuf| swallowed(path)),
            Event::FolderSynced(path, _) => !swallowed(path),
            _ => true,
        };
        let mut events = self.events;
        events.retain(kept);
        Self { events, ..self }
    }
}
