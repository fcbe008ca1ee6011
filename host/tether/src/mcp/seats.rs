//! Which requests of a session are being answered.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use super::splice::Splices;

/// The places of all sessions' requests, by session and id.
#[derive(Default)]
pub(super) struct Seats(Mutex<HashMap<(String, String), Weak<Place>>>);

/// Where requests with one id of one session are answered, one after the other.
struct Place {
    turn: Arc<tokio::sync::Mutex<()>>,
    splices: Arc<Splices>,
}

/// A request's place among those of its session. As long as somebody has it, another with
/// the same id waits: rmcp would answer the one in the other's stream.
pub(super) struct Seat {
    /// Shared with whoever comes next: an answer that was under way when its stream broke off
    /// may go out in the stream of the request that repeats it.
    pub(super) splices: Arc<Splices>,
    _turn: Option<(OwnedMutexGuard<()>, Arc<Place>)>,
}

impl Seat {
    /// One of a request without a session.
    pub(super) fn free() -> Self {
        Self { splices: Arc::new(Splices::new()), _turn: None }
    }
}

impl Seats {
    /// A place for the request with this id, once nobody else has it.
    pub(super) async fn take(&self, session: &str, id: &str) -> Seat {
        let place = {
            let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (session.to_owned(), id.to_owned());
            match taken.get(&key).and_then(Weak::upgrade) {
                Some(place) => place,
                None => {
                    taken.retain(|_, place| place.strong_count() > 0);
                    let place = Arc::new(Place { turn: Arc::default(), splices: Arc::new(Splices::new()) });
                    taken.insert(key, Arc::downgrade(&place));
                    place
                }
            }
        };
        let turn = Arc::clone(&place.turn).lock_owned().await;
        Seat { splices: Arc::clone(&place.splices), _turn: Some((turn, place)) }
    }

    /// Whether a request with this id is not answered yet.
    pub(super) fn is_taken(&self, session: &str, id: &str) -> bool {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.get(&(session.to_owned(), id.to_owned())).is_some_and(|place| place.strong_count() > 0)
    }

    /// The sessions that have requests which are not answered yet.
    pub(super) fn sessions(&self) -> HashSet<String> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = taken.iter().filter(|(_, place)| place.strong_count() > 0);
        taken.map(|((session, _), _)| session.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_with_one_id_are_answered_one_after_the_other() {
        let seats = Seats::default();
        let first = seats.take("s", "1").await;
        drop(seats.take("s", "2").await);
        assert!(seats.is_taken("s", "1") && !seats.is_taken("s", "2") && !seats.is_taken("t", "1"));
        drop(seats.take("t", "1").await);
        let second = seats.take("s", "1");
        tokio::pin!(second);
        assert!(is_not_ready(&mut second).await);
        let splices = Arc::clone(&first.splices);
        drop(first);
        assert!(Arc::ptr_eq(&second.await.splices, &splices));
        assert!(!Arc::ptr_eq(&seats.take("s", "1").await.splices, &splices));
    }

    async fn is_not_ready<F: Future + Unpin>(future: &mut F) -> bool {
        std::future::poll_fn(|context| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context)))
            .await
            .is_pending()
    }
}
