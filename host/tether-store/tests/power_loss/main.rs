//! The power goes out, at every step, and what was answered is there afterwards, whole.
//!
//! A workload with many writers at once runs on a disk that is watched ([`disk`],
//! [`vfs`]): each write, each name and each sync is written down in order, and between
//! them what was asked and what was told ([`trace`]). Afterwards the power goes out at
//! each of these steps: a fresh folder is filled with what was synced by then, and with a
//! random part of what was not ([`model`]): sectors, lengths, names, a torn last write. The
//! stores are opened on it, and say what is there. What was told must be; what was only
//! asked for is there whole or not at all; and nothing else is ([`facts`]).
//!
//! A process that is killed loses nothing that it wrote, synced or not, until the power
//! goes out as well: so the same is done after the next process has answered.
//!
//! By default this takes some seconds. At full length, every step of many workloads:
//!
//! ```text
//! TETHER_POWER_LOSS_SEEDS=3 cargo test -p tether-store --test power_loss
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
mod trace;
mod vfs;
mod workload;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use self::disk::{Disk, Failing, Watched};
use self::facts::{Fact, Facts};
use self::folder::Folder;
use self::model::{Event, FileId, Forgotten, Model};
use self::random::Random;
use self::stores::Stores;
use self::trace::Trace;

/// Steps that are looked at where the length is not the full one.
const SOME: usize = 80;

/// The log of the database that most is written to.
const LOG: &str = "data/databases/tickets/acme/main.db-wal";

/// How long a sync takes of what many write to, without regard to how fast they are.
const LONG: Duration = Duration::from_millis(20);

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

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
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

/// Some of the syncs.
type Syncs = fn(&Event) -> bool;

/// A process is killed, the next one answers what it finds, and then the power goes out.
/// Syncs of what the first one left come to nothing, where they are `swallowed`.
fn kill_and_lose(
    model: &Model,
    facts: &Facts,
    random: &mut Random,
    swallowed: Option<Syncs>,
) -> Result<(), String> {
    let folder = Folder::new();
    model.killed(folder.path());
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    let disk = Disk::watch(folder.path(), model, Duration::ZERO);
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
        if changed.covers(&event) || !swallowed.is_some_and(|swallowed| swallowed(&event)) {
            model.apply(&event);
        }
    }
    match swallowed {
        None => lose(&model, &facts, random),
        Some(_) => lose_in(&Folder::new(), &model, &facts, random),
    }
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
            Event::FileSynced(file, _) => return self.files.contains(file),
            Event::FolderSynced(folder, _) => return self.folders.contains(folder),
            Event::Changed(file, _) => self.files.extend([*file]),
            Event::Named(path, _) => self.folders.extend(path.parent().map(Path::to_owned)),
            // As they were.
            Event::WrittenAgain(..) | Event::SyncFailed(..) | Event::FolderNotSynced | Event::Told(_) => {}
        };
        true
    }
}

#[test]
fn what_was_told_survives_and_the_rest_is_there_whole_or_not_at_all() {
    let (seeds, some) = length();
    for seed in seeds {
        let trace = Trace::of(seed);
        let moved = |fact: &Fact| matches!(fact, Fact::Moved(..));
        let (told, synced) = trace.told_and_synced("data/actions.db-wal", moved);
        assert!(told > synced, "{told} answers about actions took {synced} syncs: they shared none");
        let looked_at = trace.at_steps(some, lose).unwrap_or_else(|wrong| panic!("{wrong}"));
        eprintln!("seed {seed}: {told} answers in {synced} syncs, the power went out at {looked_at} steps");
    }
}

#[test]
fn many_writers_of_one_database_share_its_syncs_and_each_is_told_what_lasts() {
    let (seeds, some) = length();
    for seed in seeds {
        let trace = Trace::record(seed, LONG, async |disk| workload::crowd(disk, seed).await);
        let asked = |fact: &Fact| matches!(fact, Fact::Committing(..));
        let (asked, synced) = trace.told_and_synced(LOG, asked);
        assert!(asked > 3 * synced, "{asked} commits took {synced} syncs");
        let looked_at = trace.at_steps(some, lose).unwrap_or_else(|wrong| panic!("{wrong}"));
        eprintln!("seed {seed}: {asked} commits in {synced} syncs, the power went out at {looked_at} steps");
    }
}

#[test]
fn a_sync_that_fails_tells_nobody_what_does_not_last() {
    let own = |after, count, forgotten| Failing { path: LOG, after, count, forgotten };
    let existing = |path, after| Failing { path, after, count: 1, forgotten: Forgotten::Changes };
    let cases = [
        own(3, 1, Forgotten::Changes),
        own(4, 1, Forgotten::Before),
        own(6, 3, Forgotten::Changes),
        own(7, 2, Forgotten::Before),
        // A checkpoint's.
        existing("data/databases/tickets/acme/main.db", 2),
        existing("crm.db-journal", 2),
        existing("crm.db", 4),
        // The end of a journal is that it has no name.
        existing("", 9),
        existing("", 10),
    ];
    let (seeds, some) = length();
    let some = some.map(|some| some / 16);
    for (seed, failing) in seeds.flat_map(|seed| cases.map(|failing| (seed, failing))) {
        let trace = Trace::record(seed, disk::SHORT, async |disk| {
            disk.fail(failing);
            // Whoever else has the file open moves what the system shows it: see `mend`.
            let others = failing.forgotten == Forgotten::Changes;
            workload::run(disk, seed, others).await;
        });
        let trace = trace.since_failure().unwrap_or_else(|| panic!("{failing:?} never came to it"));
        let wrong = |wrong| panic!("{failing:?}: {wrong}");
        let looked_at = trace.at_steps(some, lose).unwrap_or_else(wrong);
        let kill = |model: &_, facts: &_, random: &mut _| kill_and_lose(model, facts, random, None);
        let killed_at = trace.at_steps(some, kill).unwrap_or_else(wrong);
        eprintln!("seed {seed}, {failing:?}: out of power at {looked_at} steps, killed at {killed_at}");
    }
}

#[test]
fn what_a_failed_commit_came_to_stays_so_when_the_process_is_killed_and_when_the_power_goes_out() {
    vfs::install();
    for shared in [false, true] {
        let folder = Folder::new();
        stores::prepare(folder.path());
        // With a log, a commit lies there whole when its sync fails.
        stores::keep_journal(&folder.path().join("crm.db"), "wal");
        let start = Model::durable(folder.path());
        let Watched(disk) = &Disk::watch(folder.path(), &start, Duration::ZERO);
        std::fs::create_dir(disk.root().join("data")).unwrap();
        let (told, model) = runtime().block_on(workload::fail_to_commit(disk, shared));
        let find = |root: &Path| runtime().block_on(workload::find_what_was_told(root, told));

        let killed = Folder::new();
        model.killed(killed.path());
        find(killed.path());
        let mut random = Random::new(1, 1);
        for _ in 0..20 {
            let powerless = Folder::new();
            model.powerless(powerless.path(), &mut random);
            find(powerless.path());
        }
    }
}

#[test]
fn a_failed_sync_of_a_file_that_another_program_has_open_is_mended_once_that_closes_it() {
    for forgotten in [Forgotten::Changes, Forgotten::Before] {
        let trace = Trace::record(1, Duration::ZERO, async |disk| {
            workload::fail_to_commit_beside_another(disk, forgotten).await;
        });
        let trace = trace.since_failure().unwrap();
        trace.at_steps(Some(SOME / 8), lose).unwrap_or_else(|wrong| panic!("{forgotten:?}: {wrong}"));
    }
}

#[test]
fn what_a_killed_process_left_survives_once_the_next_one_has_told_it() {
    let (seeds, some) = length();
    for seed in seeds {
        let kill = |model: &_, facts: &_, random: &mut _| kill_and_lose(model, facts, random, None);
        let looked_at = Trace::of(seed).at_steps(some, kill).unwrap_or_else(|wrong| panic!("{wrong}"));
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
    let kinds: [(&str, Syncs); 2] = [
        ("what it had committed", |event| matches!(event, Event::FileSynced(..))),
        ("the folders that it had made", |event| matches!(event, Event::FolderSynced(..))),
    ];
    for (what, swallowed) in kinds {
        let kill =
            |model: &_, facts: &_, random: &mut _| kill_and_lose(model, facts, random, Some(swallowed));
        let found = (1..20).any(|seed| Trace::of(seed).at_steps(Some(SOME), kill).is_err());
        assert!(found, "nothing was lost, although {what} was never synced");
    }
}

/// Without these syncs something that was told is lost, or a file is damaged.
fn check_found<S: FnMut(&Path) -> bool>(what: &str, swallowed: impl Fn() -> S) {
    let lossy = |model: &_, facts: &_, random: &mut _| lose_in(&Folder::new(), model, facts, random);
    let found = (1..20).any(|seed| Trace::of(seed).without(swallowed()).at_steps(Some(SOME), lossy).is_err());
    assert!(found, "nothing was lost, although {what} was never synced");
}
