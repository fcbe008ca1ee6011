//! The world outside of the host: the database that handlers write to, and the peers
//! that they send to. Effects are counted here, where they land.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tether_core::audit::Seen;
use tether_core::clock::Timestamp;
use tether_core::failure::{Cause, Failure};
use tether_core::id::{RequestId, StepName};
use tether_core::json::JsonText;
use tether_core::port::databases::{Record, Unreachable};
use tokio::sync::OwnedMutexGuard;

use crate::random::Random;
use crate::world::gates::Gates;
use crate::world::json;

pub(crate) struct Outside {
    pub(crate) gates: Arc<Gates>,
    pub(crate) random: Mutex<Random>,
    records: Mutex<Vec<(RequestId, Record)>>,
    seen: Mutex<HashMap<RequestId, Vec<Seen>>>,
    /// The writer's turn of the database.
    turn: Arc<tokio::sync::Mutex<()>>,
    pub(crate) away: AtomicBool,
    pub(crate) full: AtomicBool,
    pub(crate) outdated: AtomicBool,
    pub(crate) panics: AtomicUsize,
}

/// A transaction that has the turn and may commit.
pub(crate) enum Begun {
    Fresh(OwnedMutexGuard<()>),
    Recorded,
}

impl Outside {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            gates: Arc::default(),
            random: Mutex::new(Random::new(seed)),
            records: Mutex::default(),
            seen: Mutex::default(),
            turn: Arc::default(),
            away: AtomicBool::default(),
            full: AtomicBool::default(),
            outdated: AtomicBool::default(),
            panics: AtomicUsize::default(),
        })
    }

    pub(crate) fn random(&self) -> MutexGuard<'_, Random> {
        self.random.lock().unwrap()
    }

    pub(crate) fn see(&self, key: RequestId, seen: Seen) {
        self.seen.lock().unwrap().entry(key).or_default().push(seen);
    }

    /// The process dies, and with it whatever ran.
    pub(crate) fn see_death(&self) {
        self.seen.lock().unwrap().values_mut().for_each(|seen| seen.push(Seen::Died));
    }

    pub(crate) fn seen(&self, key: RequestId) -> Vec<Seen> {
        self.seen.lock().unwrap().get(&key).cloned().unwrap_or_default()
    }

    /// The records of a write, as somebody who opens the file sees them.
    pub(crate) fn peek(&self, key: RequestId) -> Vec<Record> {
        let records = self.records.lock().unwrap();
        records.iter().filter(|(of, _)| *of == key).map(|(_, record)| record.clone()).collect()
    }

    pub(crate) fn set(&self, what: &AtomicBool, now: bool) {
        what.store(now, Ordering::SeqCst);
    }

    pub(crate) fn check_reachable(&self) -> Result<(), Unreachable> {
        match self.away.load(Ordering::SeqCst) {
            true => Err(Unreachable("simulated".to_owned())),
            false => Ok(()),
        }
    }

    /// Waits for the writer's turn.
    pub(crate) async fn begin(&self, key: RequestId, step: Option<&StepName>) -> Result<Begun, Failure> {
        let away = |_| Failure::new(Cause::Unreachable, "simulated");
        self.check_reachable().map_err(away)?;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        self.gates.pass().await;
        self.check_reachable().map_err(away)?;
        if self.peek(key).iter().any(|record| record.step.as_ref() == step) {
            return Ok(Begun::Recorded);
        }
        if self.full.load(Ordering::SeqCst) {
            return Err(Failure::new(Cause::StorageFull, "simulated"));
        }
        Ok(Begun::Fresh(turn))
    }

    /// A COMMIT that was issued. It runs to its end, whoever waits for it, unless the
    /// process dies.
    pub(crate) async fn commit(
        self: Arc<Self>,
        key: RequestId,
        attempt: u32,
        step: Option<StepName>,
        turn: OwnedMutexGuard<()>,
    ) {
        self.gates.pass().await;
        let record = Record {
            database: "main".parse().unwrap(),
            step: step.clone(),
            attempt,
            at: Timestamp::from_millis(i64::from(attempt)),
            output: recorded(attempt),
            statements: vec!["INSERT".to_owned()],
        };
        self.records.lock().unwrap().push((key, record));
        self.see(key, Seen::Committed { attempt, step });
        self.gates.pass().await;
        drop(turn);
    }

    /// What the database holds of a write, when it is this one's turn.
    pub(crate) async fn records(&self, key: RequestId) -> Result<Vec<Record>, Unreachable> {
        self.gates.pass().await;
        let turn = self.turn.lock().await;
        self.check_reachable()?;
        let records = self.peek(key);
        drop(turn);
        self.gates.pass().await;
        Ok(records)
    }

    pub(crate) async fn empty(&self, key: RequestId) -> Result<(), Unreachable> {
        self.gates.pass().await;
        self.check_reachable()?;
        for (of, record) in self.records.lock().unwrap().iter_mut() {
            if *of == key {
                record.output = json("null");
            }
        }
        self.gates.pass().await;
        Ok(())
    }
}

/// What an attempt records: every attempt something else.
fn recorded(attempt: u32) -> JsonText {
    json(&format!("{{\"recorded\":{attempt}}}"))
}

/// What it returns, which is something else again.
pub(crate) fn returned(attempt: u32) -> JsonText {
    json(&format!("{{\"returned\":{attempt}}}"))
}
