//! Guessing is made slow, and nobody else is.
//!
//! Whoever failed a few times from one address gets its further credentials looked at one
//! after the other, each after a pause. The pause comes *before* the look: to delay only
//! the answers of failures would slow nobody who opens many connections at once.
//! Credentials that got in lately pass by the queue, and are looked at in full, so that
//! neighbours behind one address do not lock one another out.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::digest::Digest;
use tokio::sync::Notify;

/// So many failures of an address cost nothing: fingers slip.
const FREE: u32 = 5;

/// The pause after these; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// So many wait their turn behind one address that is slowed down.
const WAITING_EACH: usize = 8;

/// So many wait in all.
const WAITING: usize = 64;

/// An address that failed no more for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(15 * 60);

/// So many addresses are remembered.
const ADDRESSES: usize = 10_000;

/// A credential that got in passes by the queue for so long.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// So many of these are remembered.
const KNOWN: usize = 1_024;

/// See the module.
pub(super) struct SlowDown {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Somebody left.
    changed: Notify,
}

#[derive(Default)]
struct State {
    addresses: HashMap<IpAddr, Address>,
    /// Credentials that got in, and when.
    known: HashMap<Digest, Duration>,
    waiting: usize,
    tickets: u64,
}

#[derive(Default)]
struct Address {
    failures: u32,
    failed_at: Duration,
    /// Those whose turn it is, whether they pause or are looked at.
    inside: u32,
    /// What is being looked at.
    looking: Vec<Digest>,
    /// The tickets of those who wait, the first in front.
    waiting: VecDeque<u64>,
}

/// Too many wait already: come back after so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany {
    pub(super) retry_after: Duration,
}

impl Address {
    fn is_slow(&self) -> bool {
        self.failures >= FREE
    }

    /// Whether the next one may come in.
    fn has_room(&self) -> bool {
        self.inside < FREE.saturating_sub(self.failures).max(1)
    }

    fn pause(&self) -> Duration {
        match self.failures.checked_sub(FREE) {
            Some(beyond) => FIRST_PAUSE.saturating_mul(1 << beyond.min(16)).min(LONGEST_PAUSE),
            None => Duration::ZERO,
        }
    }

    fn too_many(&self) -> TooMany {
        let ahead = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        TooMany { retry_after: self.pause().saturating_mul(ahead).max(Duration::from_secs(1)) }
    }

    /// Whether there is nothing to remember.
    fn is_nothing(&self, now: Duration) -> bool {
        let forgotten = self.failures == 0 || now.saturating_sub(self.failed_at) >= FORGOTTEN_AFTER;
        forgotten && self.is_idle()
    }

    fn is_idle(&self) -> bool {
        self.inside == 0 && self.waiting.is_empty()
    }
}

impl State {
    /// What is known of `address`.
    fn address(&mut self, address: IpAddr, now: Duration) -> &mut Address {
        if self.addresses.len() >= ADDRESSES && !self.addresses.contains_key(&address) {
            self.addresses.retain(|_, known| !known.is_nothing(now));
            let idle = self.addresses.iter().filter(|(_, known)| known.is_idle());
            let oldest = idle.min_by_key(|(_, known)| known.failed_at).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| self.addresses.len() >= ADDRESSES) {
                self.addresses.remove(&oldest);
            }
        }
        let known = self.addresses.entry(address).or_default();
        if now.saturating_sub(known.failed_at) >= FORGOTTEN_AFTER {
            known.failures = 0;
        }
        known
    }

    fn is_known(&self, credential: &Digest, now: Duration) -> bool {
        self.known.get(credential).is_some_and(|at| now.saturating_sub(*at) < KNOWN_FOR)
    }

    fn know(&mut self, credential: Digest, now: Duration) {
        if self.known.len() >= KNOWN && !self.known.contains_key(&credential) {
            self.known.retain(|_, at| now.saturating_sub(*at) < KNOWN_FOR);
            let oldest = self.known.iter().min_by_key(|(_, at)| **at).map(|(known, _)| *known);
            if let Some(oldest) = oldest.filter(|_| self.known.len() >= KNOWN) {
                self.known.remove(&oldest);
            }
        }
        self.known.insert(credential, now);
    }
}

impl SlowDown {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until `credential`, which came from `peer`, may be looked at.
    pub(super) async fn enter(&self, peer: IpAddr, credential: Digest) -> Result<Look<'_>, TooMany> {
        let address = network_of(peer);
        let mut look = Look { slow_down: self, address, credential, inside: false, looking: false };
        let Some(waiting) = self.hand_in(&look)? else { return Ok(look) };
        let pause = waiting.turn().await?;
        look.inside = true;
        if !pause.is_zero() {
            self.clock.sleep(pause).await;
        }
        self.state().address(address, self.clock.monotonic()).looking.push(credential);
        look.looking = true;
        Ok(look)
    }

    /// A ticket for the queue; none where it does not take one.
    fn hand_in(&self, look: &Look<'_>) -> Result<Option<Waiting<'_>>, TooMany> {
        let now = self.clock.monotonic();
        let mut state = self.state();
        if state.is_known(&look.credential, now) {
            return Ok(None);
        }
        let (waiting, ticket) = (state.waiting, state.tickets);
        let address = state.address(look.address, now);
        // The same again at the same time is no further guess.
        if address.looking.contains(&look.credential) {
            return Ok(None);
        }
        if waiting >= WAITING || (address.is_slow() && address.waiting.len() >= WAITING_EACH) {
            return Err(address.too_many());
        }
        address.waiting.push_back(ticket);
        state.waiting += 1;
        state.tickets += 1;
        Ok(Some(Waiting { slow_down: self, address: look.address, ticket }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue, until it is dropped.
struct Waiting<'a> {
    slow_down: &'a SlowDown,
    address: IpAddr,
    ticket: u64,
}

impl Waiting<'_> {
    /// Waits for the turn; then there is this pause to make.
    async fn turn(self) -> Result<Duration, TooMany> {
        loop {
            let changed = self.slow_down.changed.notified();
            {
                let mut state = self.slow_down.state();
                let now = self.slow_down.clock.monotonic();
                let address = state.address(self.address, now);
                let place = address.waiting.iter().position(|ticket| *ticket == self.ticket);
                match place {
                    Some(0) if address.has_room() => {
                        address.inside += 1;
                        return Ok(address.pause());
                    }
                    // It has become slow meanwhile.
                    Some(place) if place >= WAITING_EACH && address.is_slow() => {
                        return Err(address.too_many());
                    }
                    _ => {}
                }
            }
            changed.await;
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.slow_down.state();
        state.waiting -= 1;
        if let Some(address) = state.addresses.get_mut(&self.address) {
            address.waiting.retain(|ticket| *ticket != self.ticket);
        }
        drop(state);
        self.slow_down.changed.notify_waiters();
    }
}

/// The turn of a credential, until it is dropped.
#[must_use]
pub(super) struct Look<'a> {
    slow_down: &'a SlowDown,
    address: IpAddr,
    credential: Digest,
    /// Whether it takes a place.
    inside: bool,
    /// Whether it is among what is looked at.
    looking: bool,
}

impl Look<'_> {
    /// It opens something.
    pub(super) fn got_in(self) {
        self.slow_down.state().know(self.credential, self.slow_down.clock.monotonic());
    }

    /// It opens nothing.
    pub(super) fn failed(self) {
        let mut state = self.slow_down.state();
        let now = self.slow_down.clock.monotonic();
        state.known.remove(&self.credential);
        let address = state.address(self.address, now);
        address.failures = address.failures.saturating_add(1);
        address.failed_at = now;
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let mut state = self.slow_down.state();
        let now = self.slow_down.clock.monotonic();
        if let Some(address) = state.addresses.get_mut(&self.address) {
            address.inside -= u32::from(self.inside);
            if self.looking {
                address.looking.retain(|credential| *credential != self.credential);
            }
            if address.is_nothing(now) {
                state.addresses.remove(&self.address);
            }
        }
        drop(state);
        self.slow_down.changed.notify_waiters();
    }
}

/// Who has one IPv6 address has a /64 of them.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::identity::tests::given_clock::GivenClock;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn guess(number: usize) -> Digest {
        Digest::of(format!("guess {number}"))
    }

    fn given() -> (Arc<GivenClock>, SlowDown) {
        let clock = Arc::new(GivenClock::default());
        (clock.clone(), SlowDown::new(clock))
    }

    /// Runs what must not have to wait.
    #[track_caller]
    fn at_once<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits"),
        }
    }

    async fn fail(slow_down: &SlowDown, peer: IpAddr, times: usize) {
        for number in 0..times {
            slow_down.enter(peer, guess(1_000 + number)).await.unwrap().failed();
        }
    }

    #[tokio::test]
    async fn five_failures_are_free_and_then_each_look_comes_after_a_longer_pause() {
        let (clock, slow_down) = given();
        fail(&slow_down, peer(1), 14).await;
        let millis: Vec<_> = clock.slept().iter().map(Duration::as_millis).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
        // Somebody else's address is somebody else's.
        at_once(slow_down.enter(peer(2), guess(1))).unwrap().failed();
    }

    #[tokio::test]
    async fn an_address_that_fails_no_more_is_forgotten() {
        let (clock, slow_down) = given();
        fail(&slow_down, peer(1), 5).await;
        clock.advance(FORGOTTEN_AFTER);
        at_once(slow_down.enter(peer(1), guess(1))).unwrap().failed();
        assert!(clock.slept().is_empty());
    }

    #[tokio::test]
    async fn guesses_in_parallel_are_looked_at_one_after_the_other() {
        let (clock, slow_down) = given();
        fail(&slow_down, peer(1), 5).await;
        clock.hold();
        let slow_down = Arc::new(slow_down);
        let looks: Vec<_> = (0..50)
            .map(|number| {
                let slow_down = Arc::clone(&slow_down);
                tokio::spawn(async move {
                    let look = slow_down.enter(peer(1), guess(number)).await;
                    look.map(|look| {
                        let inside = slow_down.state().address(network_of(peer(1)), Duration::ZERO).inside;
                        look.failed();
                        inside
                    })
                })
            })
            .collect();
        // One pauses, eight wait, and nothing of the others is looked at.
        clock.until_slept(1).await;
        for _ in 0..9 {
            clock.release();
        }
        let mut seen = Vec::new();
        let mut refused = 0;
        for look in looks {
            match look.await.unwrap() {
                Ok(inside) => seen.push(inside),
                Err(TooMany { retry_after }) => {
                    assert!(retry_after >= Duration::from_secs(1) / 2, "{retry_after:?}");
                    refused += 1;
                }
            }
        }
        assert_eq!((seen, refused), (vec![1; 9], 41));
        assert_eq!(clock.slept().len(), 9);
    }

    #[tokio::test]
    async fn guesses_that_came_before_the_first_answer_are_slowed_down_as_well() {
        let (clock, slow_down) = given();
        // Five are inside, and the rest of a flood waits.
        let mut inside = Vec::new();
        for number in 0..5 {
            inside.push(at_once(slow_down.enter(peer(1), guess(number))).unwrap());
        }
        clock.hold();
        let slow_down = &slow_down;
        let mut waiting: Vec<_> =
            (5..45).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = || {
            let polled = waiting.iter_mut().map(|look| match look.as_mut().poll(&mut context) {
                Poll::Ready(Err(TooMany { .. })) => "refused",
                Poll::Ready(Ok(_)) => "looked at",
                Poll::Pending => "waits",
            });
            polled.collect::<Vec<_>>()
        };
        assert_eq!(poll(), ["waits"; 40]);
        inside.into_iter().for_each(Look::failed);
        let after = poll();
        assert_eq!(after.iter().filter(|what| **what == "looked at").count(), 0);
        assert_eq!(after.iter().filter(|what| **what == "waits").count(), WAITING_EACH + 1, "{after:?}");
    }

    #[tokio::test]
    async fn who_got_in_lately_passes_by_the_queue() {
        let (clock, slow_down) = given();
        at_once(slow_down.enter(peer(1), guess(1))).unwrap().got_in();
        fail(&slow_down, peer(1), 20).await;
        let slept = clock.slept().len();
        // From wherever it comes.
        at_once(slow_down.enter(peer(1), guess(1))).unwrap().got_in();
        at_once(slow_down.enter(peer(2), guess(1))).unwrap().got_in();
        // Once it is revoked it is a failure like any other, and known no more.
        at_once(slow_down.enter(peer(1), guess(1))).unwrap().failed();
        slow_down.enter(peer(1), guess(1)).await.unwrap().failed();
        assert_eq!(clock.slept().len(), slept + 1);
    }

    #[test]
    fn a_crowd_with_one_credential_is_one_guess() {
        let (_, slow_down) = given();
        let looks: Vec<_> = (0..500).map(|_| at_once(slow_down.enter(peer(1), guess(1))).unwrap()).collect();
        looks.into_iter().for_each(Look::got_in);
        assert!(slow_down.state().addresses.is_empty());
    }

    #[tokio::test]
    async fn who_goes_away_gives_its_place_back() {
        let (clock, slow_down) = given();
        fail(&slow_down, peer(1), 5).await;
        clock.hold();
        {
            let mut context = Context::from_waker(Waker::noop());
            let mut all: Vec<_> =
                (0..9).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
            for look in &mut all {
                assert!(look.as_mut().poll(&mut context).is_pending());
            }
            assert!(slow_down.enter(peer(1), guess(9)).await.is_err());
        }
        assert_eq!(slow_down.state().waiting, 0);
        // The first of them had gone to sleep.
        clock.release();
        clock.release();
        slow_down.enter(peer(1), guess(10)).await.unwrap().got_in();
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (clock, slow_down) = given();
        for number in 0..(ADDRESSES + 100) {
            clock.advance(Duration::from_millis(1));
            let peer = IpAddr::from(u32::try_from(number).unwrap().to_be_bytes());
            at_once(slow_down.enter(peer, guess(number))).unwrap().failed();
        }
        assert_eq!(slow_down.state().addresses.len(), ADDRESSES);
        for number in 0..(KNOWN + 100) {
            clock.advance(Duration::from_millis(1));
            at_once(slow_down.enter(peer(1), guess(number))).unwrap().got_in();
        }
        assert_eq!(slow_down.state().known.len(), KNOWN);
        // The oldest went first.
        assert!(!slow_down.state().is_known(&guess(99), clock.monotonic()));
        assert!(slow_down.state().is_known(&guess(100), clock.monotonic()));
    }

    #[test]
    fn an_address_is_what_one_peer_has() {
        let check = |a: &str, b: &str, same: bool| {
            let [a, b] = [a, b].map(|text| network_of(text.parse().unwrap()));
            assert_eq!(a == b, same, "{a} {b}");
        };
        check("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true);
        check("2001:db8::1", "2001:db8:0:1::1", false);
        check("::ffff:192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
    }
}
