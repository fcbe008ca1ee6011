//! What a host would leave that died now: at every passing, a copy of its files.
//!
//! A process that dies keeps nothing back: what it gave to the system is in the files,
//! what it did not is lost. So the files as they are at this instant, copied while the
//! host stands still at the point, are what `kill -9` there would leave. The host then
//! goes on, and is watched at the next one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tether_core::fault::{self, Point};

use crate::crash::folders;
use crate::support::{Folder, Upstream};

/// What is left of a host that died.
pub(super) struct Remains {
    pub(super) folder: Folder,
    /// Requests that its lives had sent.
    pub(super) sent: usize,
    /// What happened, for messages.
    pub(super) story: String,
    /// Where it died.
    pub(super) point: Option<Point>,
}

impl Remains {
    /// Of a host that never lived.
    pub(super) fn none(story: String) -> Self {
        Self { folder: Folder::new(), sent: 0, story, point: None }
    }
}

/// The host that is watched: one at a time in this process.
struct Camera {
    data: PathBuf,
    upstream: Arc<Upstream>,
    /// When this life began: requests that those before had sent, and all that the
    /// upstream had got.
    before: (usize, usize),
    story: String,
    taken: Vec<Remains>,
}

static CAMERA: Mutex<Option<Camera>> = Mutex::new(None);

/// Everything of a test with hosts in this process: its passings are its own.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    fault::install(passed);
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `life` on `remains`; what it would have left at each passing.
pub(super) fn watch(
    remains: &mut Remains,
    upstream: &Arc<Upstream>,
    life: impl FnOnce(&mut Remains),
) -> Vec<Remains> {
    let camera = Camera {
        data: remains.folder.path().to_owned(),
        upstream: upstream.clone(),
        before: (remains.sent, upstream.received().len()),
        story: remains.story.clone(),
        taken: Vec::new(),
    };
    *lock() = Some(camera);
    let _put_away = PutAway;
    life(remains);
    lock().take().expect("it was put there").taken
}

/// A life that fails is not watched in its fall, nor are the tests after it.
struct PutAway;

impl Drop for PutAway {
    fn drop(&mut self) {
        *lock() = None;
    }
}

fn lock() -> MutexGuard<'static, Option<Camera>> {
    CAMERA.lock().unwrap_or_else(PoisonError::into_inner)
}

fn passed(point: Point) {
    if let Some(camera) = &mut *lock() {
        camera.take(point);
    }
}

impl Camera {
    fn take(&mut self, point: Point) {
        let count = self.taken.iter().filter(|remains| remains.point == Some(point)).count() + 1;
        let (sent, received) = self.before;
        let remains = Remains {
            folder: Folder::new(),
            sent: sent + self.upstream.received().len() - received,
            story: format!("{}, dead at {}#{count}", self.story, point.as_str()),
            point: Some(point),
        };
        // SQLite's locks on these files end by this; only other processes could notice.
        folders::copy(&self.data, remains.folder.path());
        self.taken.push(remains);
    }
}
