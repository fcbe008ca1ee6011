//! F8: `kill -9`, at any moment, of a host to which a crowd proposes and confirms.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, RandomState};
use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Length, check_audit, try_confirm};
use crate::support::{Api, Server, Setup, crowd, open_read_only};

/// People at the same time.
const CROWD: usize = 12;

/// Answers that are given before a host is killed, at most.
const MOST_ANSWERS: u64 = 150;

/// Answers come in waves, for those who wait share a sync. So the host is killed up to so
/// much later: microseconds, the time of some waves.
const WAVES: u64 = 30_000;

/// What people know of their actions, from all lives of the host.
#[derive(Default)]
struct Known {
    proposed: BTreeSet<String>,
    /// Told to have succeeded.
    succeeded: BTreeSet<String>,
    /// Found pending after the restart; to be confirmed once more.
    waiting: Vec<String>,
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number below `end` that follows from the seed, and is another in each round.
fn number(seed: u64, round: usize, what: &str, end: u64) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, round, what)) % end
}

/// The seed that `TETHER_LOAD_SEED` asks for, or any.
fn seed() -> u64 {
    match std::env::var("TETHER_LOAD_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("TETHER_LOAD_SEED is a number, not {text:?}")),
        Err(_) => RandomState::new().hash_one(0) >> 32,
    }
}

/// Confirms what waits, and then what it proposes itself, until the host is gone.
fn work(api: &Api, known: &Mutex<Known>, answers: &Sender<()>) -> io::Result<Infallible> {
    for number in 0.. {
        let waiting = lock(known).waiting.pop();
        let id = match waiting {
            Some(id) => id,
            None => propose(api, number)?,
        };
        lock(known).proposed.insert(id.clone());
        try_confirm(api, &id)?.check("200 Succeeded");
        lock(known).succeeded.insert(id.clone());
        // Nobody listens any more where the host is being killed.
        let _ = answers.send(());
        if number.is_multiple_of(3) {
            try_confirm(api, &id)?.check("200 Replayed");
        }
    }
    unreachable!("no life lasts that long")
}

/// Every fourth stays within its transaction for a while.
fn propose(api: &Api, number: usize) -> io::Result<String> {
    let then = if number.is_multiple_of(4) { "sleep:5" } else { "ok" };
    let body = format!(r#"{{"args":{{"note":"{number}","when":"before","then":"{then}"}}}}"#);
    let answer = api.ask(&api.post_of("/v1/tools/probe_write/calls", &[], body.as_bytes()))?;
    Ok(answer.check("202 Pending").str("actionId").to_owned())
}

/// Lets the crowd work, and kills the host after so many answers and microseconds.
fn kill_in_the_middle(server: &mut Server, known: &Mutex<Known>, count: u64, microseconds: u64) {
    let (answers, counted) = mpsc::channel();
    let api = server.api.clone();
    thread::scope(|scope| {
        scope.spawn(move || {
            crowd(CROWD, |_| {
                let Err(_gone) = work(&api, known, &answers);
            })
        });
        let count = usize::try_from(count).expect("it is small");
        assert_eq!(counted.iter().take(count).count(), count, "the host or the crowd died by itself");
        thread::park_timeout(Duration::from_micros(microseconds));
        server.kill();
    });
}

/// How an action stands.
struct Standing {
    status: String,
    attempts: u32,
}

/// Every action that the host has, answered or not.
fn standings(server: &Server) -> BTreeMap<String, Standing> {
    let actions = open_read_only(&server.file("actions.db"));
    let mut statement = actions.prepare("SELECT id, status, attempts FROM actions").expect("it is a table");
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get("id")?, Standing { status: row.get("status")?, attempts: row.get("attempts")? }))
    };
    statement.query_map([], read).and_then(Iterator::collect).expect("it can be read")
}

/// What was told is so, and everything is done once or not at all. Who can be confirmed
/// (again), is; the number of actions.
fn check(server: &Server, known: &mut Known, story: &str) -> usize {
    server.api.get("/readyz").check("200 ok");
    // Whoever looks waits until what was told is written as well.
    server.api.get("/v1/actions?limit=1").check("200");
    let standings = standings(server);
    let mut effects = BTreeMap::<_, usize>::new();
    for effect in server.effects() {
        *effects.entry(effect.key).or_default() += 1;
    }
    known.waiting.clear();
    for (id, Standing { status, attempts }) in &standings {
        let expected = match (status.as_str(), attempts) {
            ("Succeeded", _) => 1,
            ("Pending", _) => 0,
            // Interrupted in every attempt that it had.
            ("Failed", 3) => 0,
            other => panic!("{story}: {id} is {other:?}"),
        };
        assert_eq!(effects.remove(id).unwrap_or(0), expected, "{story}: effects of {id}, {status}");
        if status == "Pending" {
            known.waiting.push(id.clone());
        }
    }
    assert!(effects.is_empty(), "{story}: effects of nobody's: {effects:?}");
    for id in &known.proposed {
        assert!(standings.contains_key(id), "{story}: {id} was told and is lost");
    }
    for id in &known.succeeded {
        assert_eq!(standings[id].status, "Succeeded", "{story}: {id} was told so");
    }
    standings.len()
}

#[test]
fn f8_a_host_that_is_killed_under_load_has_settled_everything_when_it_is_ready() {
    let (rounds, seed) = (Length::asked_for().rounds(5, 50), seed());
    println!("{rounds} kills, TETHER_LOAD_SEED={seed}");
    let (mut server, known) = (Setup::of(&["probe"]).start(), Mutex::new(Known::default()));
    let (mut slowest, mut interrupted) = (Duration::ZERO, 0);
    for round in 0..rounds {
        let count = 1 + number(seed, round, "answers", MOST_ANSWERS);
        let microseconds = number(seed, round, "microseconds", WAVES);
        kill_in_the_middle(&mut server, &known, count, microseconds);
        interrupted += standings(&server).values().filter(|standing| standing.status == "Executing").count();

        let restart = Instant::now();
        server.restart();
        slowest = slowest.max(restart.elapsed());
        let story = format!("TETHER_LOAD_SEED={seed}, round {round}");
        check(&server, &mut lock(&known), &story);
    }

    let mut known = known.into_inner().expect("nobody panicked with it");
    for id in std::mem::take(&mut known.waiting) {
        server.api.confirm(&id, "{}").check("200 Succeeded");
        known.succeeded.insert(id);
    }
    let actions = check(&server, &mut known, "in the end");
    assert!(known.waiting.is_empty(), "everything is done");
    println!(
        "{rounds} kills, {actions} actions, {interrupted} of them executing when their host died; ready \
         {slowest:?} after the start at most"
    );
    check_audit(&mut server, actions);
}
