//! A database's log as those use it who commit, read and mend.

#[path = "../../../../host/tether-store/src/sqlite/databases/syncs.rs"]
mod syncs;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::oneshot;

use self::syncs::Syncs;
use super::meet::{Disk, Mutex};

/// A database that many write to and read.
pub struct Log {
    disk: Arc<Disk>,
    syncs: Arc<Syncs>,
    /// The writer's turn.
    turn: Mutex<()>,
}

impl Log {
    /// An empty one, whose `fails_at`-th sync fails, if any does.
    pub fn new(fails_at: Option<u32>) -> Arc<Self> {
        let (disk, syncs) = (Disk::install(fails_at), Syncs::of(Path::new("log")));
        Arc::new(Self { disk, syncs, turn: Mutex::new(()) })
    }

    /// Commits, once: the number of the commit, if it was told to be durable.
    pub async fn commit(&self) -> Option<u64> {
        let (told, answer) = oneshot::channel();
        let (number, lead) = {
            let _turn = self.turn.lock().unwrap();
            let sound = self.sound();
            self.syncs.begin();
            let number = self.disk.write();
            self.syncs.end();
            (number, self.syncs.join(self.syncs.seen(sound), told))
        };
        if let Some(lead) = lead {
            lead.run_once();
        }
        answer.await.expect("whoever waits is answered").is_ok().then_some(number)
    }

    /// The same, synced before the turn is given back.
    pub fn commit_in_turn(&self) -> Option<u64> {
        let _turn = self.turn.lock().unwrap();
        let sound = self.sound();
        self.syncs.begin();
        let number = self.disk.write();
        self.syncs.end();
        self.syncs.sync(sound).then_some(number)
    }

    /// What somebody read, if it was told to be durable.
    pub async fn read(&self) -> Option<BTreeSet<u64>> {
        let sound = self.syncs.sound()?;
        let found = self.disk.seen();
        self.syncs.durable(self.syncs.seen(sound)).await.is_ok().then_some(found)
    }

    /// Whether it is on the disk, whatever happens.
    pub fn is_durable(&self, number: u64) -> bool {
        self.disk.is_durable(number)
    }

    /// With the turn: since when it is sound, mended first where it is not.
    fn sound(&self) -> syncs::Sound {
        if let Some(sound) = self.syncs.sound() {
            return sound;
        }
        self.syncs.forget_log();
        self.disk.read_anew();
        self.syncs.mended();
        self.syncs.sound().expect("nobody syncs what is not written")
    }
}
