//! Which sessions were used, and in which order: of too many the one ends that nobody
//! needed for the longest. It is kept in memory alone; after a start, a session counts as
//! unused until it is used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tether_core::clock::Timestamp;
use tether_core::digest::Digest;

/// Sessions of one user.
pub(super) const MOST_OF_ONE: usize = 256;

/// See the module.
#[derive(Default)]
pub(super) struct Uses(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    uses: u64,
    last: HashMap<Digest, Use>,
}

/// The last use of a session.
struct Use {
    /// No two are the same.
    number: u64,
    /// When the session is over.
    ends: Timestamp,
}

impl Uses {
    /// This session, which lasts until `ends`, was used.
    pub(super) fn note(&self, session: Digest, ends: Timestamp) {
        let mut noted = self.noted();
        noted.uses += 1;
        let number = noted.uses;
        noted.last.insert(session, Use { number, ends });
    }

    /// Forgets sessions that were over at `now`.
    pub(super) fn prune(&self, now: Timestamp) {
        self.noted().last.retain(|_, last| now < last.ends);
    }

    /// Those of `open` that are too many for one user; `open` is in the order in which they
    /// were opened.
    pub(super) fn surplus(&self, mut open: Vec<Digest>) -> Vec<Digest> {
        let noted = self.noted();
        open.sort_by_key(|session| noted.last.get(session).map(|last| last.number));
        open.truncate(open.len().saturating_sub(MOST_OF_ONE));
        open
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(count: usize) -> Vec<Digest> {
        (0..count).map(|number| Digest::of(number.to_string())).collect()
    }

    #[test]
    fn the_longest_unused_are_too_many() {
        let (uses, ends) = (Uses::default(), Timestamp::from_millis(9));
        assert_eq!(uses.surplus(sessions(MOST_OF_ONE)), []);
        let open = sessions(MOST_OF_ONE + 2);
        assert_eq!(uses.surplus(open.clone()), open[..2], "nobody used any: the first");
        for used in [0, 2, 0] {
            uses.note(open[used], ends);
        }
        assert_eq!(uses.surplus(open.clone()), [open[1], open[3]]);
        for session in &open[1..] {
            uses.note(*session, ends);
        }
        assert_eq!(uses.surplus(open.clone()), open[..2], "used before all others");
    }

    #[test]
    fn nothing_is_kept_of_what_is_over() {
        let uses = Uses::default();
        for (session, ends) in sessions(3).into_iter().zip(9..) {
            uses.note(session, Timestamp::from_millis(ends));
        }
        uses.prune(Timestamp::from_millis(10));
        assert_eq!(uses.noted().last.keys().collect::<Vec<_>>(), [&sessions(3)[2]]);
    }
}
