//! The requests that are still to be answered, line by line.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::line::Line;

/// See the module. The lines are known by their numbers.
#[derive(Default)]
pub(super) struct Open(Mutex<BTreeMap<u64, Waiting>>);

/// Those of one line.
struct Waiting {
    /// Their ids, as JSON texts.
    ids: Vec<String>,
    /// Why the line is not let in so far, if it is not.
    failure: Option<String>,
    /// It goes on until somebody ends it, and is then not missed.
    lasts: bool,
}

impl Open {
    /// The requests of a line are to be answered, but for these.
    pub(super) fn take(&self, line: &Line, called_off: &[&String]) {
        let ids = line.says.ids.iter().filter(|id| !called_off.contains(id)).cloned().collect();
        let waiting = Waiting { ids, failure: None, lasts: line.is("subscriptions/listen") };
        self.lines().insert(line.number, waiting);
    }

    /// How many requests of a line are to be answered.
    pub(super) fn count(&self, number: u64) -> usize {
        self.lines().get(&number).map_or(0, |line| line.ids.len())
    }

    /// A request of a line was answered.
    pub(super) fn answered(&self, number: u64, id: &str) {
        if let Some(line) = self.lines().get_mut(&number) {
            line.ids.retain(|open| open != id);
        }
    }

    /// Nobody is to be told what becomes of the request with this id. The line that it is of;
    /// none where there is no such request.
    pub(super) fn call_off(&self, id: &str) -> Option<u64> {
        let mut lines = self.lines();
        let (number, line) =
            lines.iter_mut().rev().find(|(_, line)| line.ids.iter().any(|open| open == id))?;
        line.ids.retain(|open| open != id);
        Some(*number)
    }

    /// Why a line is not let in; none once it is. Whether it is one of these.
    pub(super) fn note(&self, number: u64, failure: Option<String>) -> bool {
        self.lines().get_mut(&number).map(|line| line.failure = failure).is_some()
    }

    /// The last of the lines, and why it is not let in, if it is not.
    pub(super) fn last(&self) -> Option<(u64, Option<String>)> {
        self.lines().last_key_value().map(|(number, line)| (*number, line.failure.clone()))
    }

    /// A line is done with. Those of its requests that were not answered.
    pub(super) fn end(&self, number: u64) -> Vec<String> {
        self.lines().remove(&number).map(|line| line.ids).unwrap_or_default()
    }

    /// All lines are done with. The requests that were not answered and are missed, each with
    /// why its line was not let in, if it was not.
    pub(super) fn end_all(&self) -> Vec<(String, Option<String>)> {
        let lines = std::mem::take(&mut *self.lines()).into_values().filter(|line| !line.lasts);
        lines.flat_map(|line| line.ids.into_iter().map(move |id| (id, line.failure.clone()))).collect()
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<u64, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
