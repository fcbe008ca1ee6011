//! Guessing is made slow, and nobody else is.
//!
//! Whoever failed a few times from one address gets its further credentials looked at one
//! after the other, each after a pause. The pause comes *before* the look: to delay only
//! the answers of failures would slow nobody who opens many connections at once.
//! Credentials that got in lately pass by the queue, and are looked at in full, so that
//! neighbours behind one address do not lock one another out.

#[cfg(test)]
mod tests;

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

/// So many wait in all, once their addresses are slowed down; and behind one that is not.
/// Whoever never failed is kept out by no flood from elsewhere.
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
        let full = match address.is_slow() {
            true => waiting >= WAITING || address.waiting.len() >= WAITING_EACH,
            false => address.waiting.len() >= WAITING,
        };
        if full {
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
