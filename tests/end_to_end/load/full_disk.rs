//! F15: a crowd writes until the disk of the databases is full. Needs root, for a small
//! file system of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Length, check_audit};
use crate::support::{Answer, Api, Folder, Server, Setup, crowd, eventually};

/// People at the same time.
const CROWD: usize = 8;

/// How often each of them is told that there is no room, before they stop.
const REFUSALS: usize = 3;

/// MiB of the disk.
const SMALL: u32 = 16;

/// Once somebody has made room.
const LARGE: u32 = 64;

/// A file system in memory, gone with its test.
struct SmallDisk(Folder);

impl SmallDisk {
    /// None where this user may not mount, which is then said.
    fn mount() -> Option<Self> {
        let folder = Folder::new();
        if !mount(&["-t", "tmpfs", "-o", &format!("size={SMALL}m"), "tmpfs"], folder.path()) {
            eprintln!("skipped: only root can mount a disk that is small enough to fill");
            return None;
        }
        Some(Self(folder))
    }

    fn make_room(&self) {
        assert!(mount(&["-o", &format!("remount,size={LARGE}m")], self.0.path()), "it can be made larger");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, for a server may still be going away.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    let status = Command::new("mount").args(arguments).arg(path).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a confirmation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Done,
    /// There is no room, and nothing was done.
    Full,
    /// Its disk was full at a moment at which only the records can tell.
    Later,
}

impl Told {
    #[track_caller]
    fn by(answer: &Answer) -> Self {
        match answer.words().as_str() {
            "200 Succeeded" => Self::Done,
            "503 STORAGE_FULL" => Self::Full,
            "200 FailedRetryable EXECUTION_FAILED_RETRYABLE" => {
                assert_eq!(answer.body["cause"]["code"], "STORAGE_FULL", "{}", answer.text);
                assert_eq!(answer.str("effect"), "None", "{}", answer.text);
                Self::Full
            }
            "409 Conflict ACTION_EXECUTING" => Self::Later,
            _ => panic!("{}", answer.text),
        }
    }
}

/// Proposes and confirms until it is told often enough that there is no room.
fn fill(api: &Api, person: usize) -> Vec<(String, Told)> {
    let (mut all, mut refusals) = (Vec::new(), 0);
    for number in 0.. {
        // From a part of a page to many of them, so that the end is met everywhere.
        let bytes = [100, 5_000, 40_000, 90_000][(person + number) % 4];
        let id = api.propose("probe_write", &format!(r#"{{"note":"{}"}}"#, "x".repeat(bytes)));
        let told = Told::by(&api.confirm(&id, "{}"));
        all.push((id, told));
        refusals += usize::from(told != Told::Done);
        if refusals == REFUSALS {
            break;
        }
    }
    all
}

/// How many effects there are of each action.
fn effects(server: &Server) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for effect in server.effects() {
        *effects.entry(effect.key).or_default() += 1;
    }
    effects
}

/// One disk, filled; false where there can be none.
fn fill_one() -> bool {
    let Some(disk) = SmallDisk::mount() else { return false };
    let mut server = Setup::of(&["probe"]).start();
    // Its folder is made by the first call that needs a database.
    symlink(disk.0.path(), server.file("databases")).expect("the tests can make links");

    let told: Vec<_> = crowd(CROWD, |person| fill(&server.api, person)).concat();
    let of = |kind| told.iter().filter(move |(_, told)| *told == kind).map(|(id, _)| id.clone());
    let (done, later) = (BTreeSet::from_iter(of(Told::Done)), BTreeSet::from_iter(of(Told::Later)));
    assert!(!done.is_empty() && done.len() < told.len(), "it became full: {} of {}", done.len(), told.len());
    let there = effects(&server);
    assert!(there.values().all(|count| *count == 1), "nothing twice: {there:?}");
    assert!(done.iter().all(|id| there.contains_key(id)), "what was told is there");
    let more: Vec<_> = there.keys().filter(|id| !done.contains(*id) && !later.contains(*id)).collect();
    assert!(more.is_empty(), "nothing of what was refused: {more:?}");

    disk.make_room();
    let others: Vec<_> = told.iter().map(|(id, _)| id).filter(|id| !done.contains(*id)).collect();
    for id in &others {
        eventually("it is settled", || (server.api.action(id).str("status") != "Executing").then_some(()));
    }
    crowd(others.len(), |number| {
        let words = server.api.confirm(others[number], "{}").words();
        let was_done = later.contains(others[number]) && words == "200 Replayed";
        assert!(was_done || words == "200 Succeeded", "{}: {words}", others[number]);
    });
    let expected = told.iter().map(|(id, _)| (id.clone(), 1)).collect();
    assert_eq!(effects(&server), expected, "everything once");
    println!(
        "{} written until {SMALL} MiB were full, {} refused, {} told later",
        done.len(),
        others.len() - later.len(),
        later.len()
    );
    check_audit(&mut server, told.len());
    true
}

#[test]
fn f15_a_crowd_that_fills_the_disk_is_told_so_and_goes_on_once_there_is_room() {
    for _ in 0..Length::asked_for().rounds(1, 10) {
        if !fill_one() {
            return;
        }
    }
}
