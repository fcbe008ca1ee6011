//! Places for requests under way, and who gets them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// So many places, shared by all origins.
///
/// An origin gets a further place only while it holds fewer than are free. One alone
/// thus gets a half of them, two get a third each, and so on: peers that let requests
/// pile up leave places to whoever has none.
pub(super) struct Places(Mutex<State>);

struct State {
    free: usize,
    /// Places that each origin holds; never 0.
    held: BTreeMap<String, usize>,
    /// Who waits, in the order in which they came.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    origin: String,
    turn: oneshot::Sender<Place>,
}

/// A place of an origin, given back when it is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    origin: String,
}

impl Places {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let state = State { free: count, held: BTreeMap::new(), waiting: VecDeque::new() };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Waits for a place. Those of one origin get theirs in the order in which they came.
    pub(super) async fn take(self: &Arc<Self>, origin: &str) -> Place {
        let turn = {
            let mut state = self.state();
            if state.claim(origin) {
                return self.place(origin);
            }
            let (turn, mine) = oneshot::channel();
            state.waiting.push_back(Waiting { origin: origin.to_owned(), turn });
            mine
        };
        match turn.await {
            Ok(place) => place,
            // Whoever waits is in the list until there is a place for it.
            Err(_) => std::future::pending().await,
        }
    }

    fn give_back(self: &Arc<Self>, origin: &str) {
        let mut state = self.state();
        state.release(origin);
        let mut served = Vec::new();
        let mut at = 0;
        while at < state.waiting.len() && state.free > 0 {
            if state.waiting[at].turn.is_closed() {
                state.waiting.remove(at);
            } else if state.may_have(at) {
                let Some(waiting) = state.waiting.remove(at) else { break };
                state.claim(&waiting.origin);
                served.push(waiting);
            } else {
                at += 1;
            }
        }
        drop(state);
        for Waiting { origin, turn } in served {
            // Of one that has gone meanwhile, the place comes back here at once.
            let _ = turn.send(self.place(&origin));
        }
    }

    fn place(self: &Arc<Self>, origin: &str) -> Place {
        Place { places: self.clone(), origin: origin.to_owned() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn held_by(&self, origin: &str) -> usize {
        self.held.get(origin).copied().unwrap_or_default()
    }

    fn may_have(&self, waiting: usize) -> bool {
        self.held_by(&self.waiting[waiting].origin) < self.free
    }

    /// Takes a place, if `origin` may have one.
    fn claim(&mut self, origin: &str) -> bool {
        let may = self.held_by(origin) < self.free;
        if may {
            self.free -= 1;
            *self.held.entry(origin.to_owned()).or_default() += 1;
        }
        may
    }

    fn release(&mut self, origin: &str) {
        self.free += 1;
        match self.held.get_mut(origin) {
            Some(held) if *held > 1 => *held -= 1,
            _ => _ = self.held.remove(origin),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.give_back(&self.origin);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn ready(take: Pin<&mut impl Future<Output = Place>>) -> Option<Place> {
        match take.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    }

    /// A place that is there at once, or none.
    fn now(places: &Arc<Places>, origin: &str) -> Option<Place> {
        ready(pin!(places.take(origin)))
    }

    fn all(places: &Arc<Places>, origin: &str) -> Vec<Place> {
        std::iter::from_fn(|| now(places, origin)).collect()
    }

    #[test]
    fn each_origin_that_takes_all_it_can_leaves_as_many_to_the_next() {
        let places = Places::new(12);
        let first = all(&places, "a");
        assert_eq!(first.len(), 6);
        let others: Vec<_> = ["b", "c", "d"].map(|origin| all(&places, origin)).into();
        assert_eq!(others.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 1]);
        drop((first, others));
        assert_eq!(all(&places, "e").len(), 6, "all came back");
        assert!(places.state().held.is_empty(), "nothing is kept of an origin");
    }

    #[test]
    fn a_place_that_comes_back_goes_to_whoever_waits_for_it_longest() {
        let places = Places::new(2);
        let held = now(&places, "a").unwrap();
        let mut second = pin!(places.take("a"));
        let mut third = pin!(places.take("a"));
        assert!(ready(second.as_mut()).is_none() && ready(third.as_mut()).is_none());
        drop(held);
        assert!(ready(third.as_mut()).is_none(), "the second came before");
        drop(ready(second.as_mut()).expect("it is its turn"));
        assert!(ready(third.as_mut()).is_some());
    }

    #[test]
    fn whoever_waits_no_longer_takes_no_place() {
        let places = Places::new(2);
        let held = now(&places, "a").unwrap();
        assert!(now(&places, "a").is_none(), "it waited, and went");
        drop(held);
        assert_eq!(places.state().free, 2);
        // One whose turn came, and who went before it took it.
        let held = now(&places, "a").unwrap();
        {
            let mut waits = pin!(places.take("a"));
            assert!(ready(waits.as_mut()).is_none());
            drop(held);
            assert_eq!(places.state().free, 1);
        }
        assert_eq!(places.state().free, 2);
    }
}
