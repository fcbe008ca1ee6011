//! Guessing is made slow, and nobody is kept out by it.
//!
//! Whoever failed a few times from one address gets its further credentials looked at
//! after a pause each. The pause comes *before* the look: to delay only the answers of
//! failures would slow nobody who hangs up early. They pause side by side, and not one
//! after the other, for nobody can tell a guess from the good credential of a neighbour
//! without a look at it: so a neighbour of whoever guesses waits for one pause, however
//! much is guessed. Whoever guesses needs a connection for as long as a pause takes, and
//! of these the host has so many; that bounds what is looked at, and the random bits of a
//! credential see to it that no number of guesses that anybody can make is enough.
//!
//! Credentials that got in lately make no pause, and are looked at in full.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::digest::Digest;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many failures of an address cost nothing: fingers slip.
const FREE: usize = 5;

/// The pause after these; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause, and so the longest that anybody waits for what others did.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// So many pause at the same time, in all: half of the connections that the host takes, so
/// that the rest is there for those who make no pause.
const PAUSING: usize = 2_048;

/// An address that failed no more for so long is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(15 * 60);

/// So many addresses are remembered.
const ADDRESSES: usize = 10_000;

/// A credential that got in makes no pause for so long.
const KNOWN_FOR: Duration = Duration::from_secs(3600);

/// So many of these are remembered.
const KNOWN: usize = 1_024;

/// See the module.
pub(super) struct SlowDown {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    addresses: HashMap<IpAddr, Address>,
    /// Credentials that got in, and when.
    known: HashMap<Digest, Duration>,
    pausing: usize,
}

struct Address {
    failures: usize,
    failed_at: Duration,
    /// The looks that cost nothing: each failure uses one up, and the last one closes this.
    free: Arc<Semaphore>,
    /// Those who wait, pause or are looked at.
    inside: usize,
    /// Those of them who pause.
    pausing: usize,
    /// What is being looked at.
    looking: Vec<Digest>,
}

/// Too many pause already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

impl Default for Address {
    fn default() -> Self {
        Self {
            failures: 0,
            failed_at: Duration::ZERO,
            free: Arc::new(Semaphore::new(FREE)),
            inside: 0,
            pausing: 0,
            looking: Vec::new(),
        }
    }
}

impl Address {
    fn fail(&mut self, now: Duration) {
        self.failures = self.failures.saturating_add(1);
        self.failed_at = now;
        if self.failures >= FREE {
            self.free.close();
        }
    }

    fn forget(&mut self) {
        self.failures = 0;
        self.free = Arc::new(Semaphore::new(FREE));
    }

    /// The pause of whoever comes now, as if those who pause already had failed.
    fn pause(&self) -> Duration {
        let beyond = self.failures.saturating_sub(FREE).saturating_add(self.pausing).min(16);
        FIRST_PAUSE.saturating_mul(1 << beyond).min(LONGEST_PAUSE)
    }

    fn is_over(&self, now: Duration) -> bool {
        self.failures == 0 || now.saturating_sub(self.failed_at) >= FORGOTTEN_AFTER
    }

    /// Whether there is nothing to remember.
    fn is_nothing(&self, now: Duration) -> bool {
        self.is_over(now) && self.inside == 0
    }
}

impl State {
    /// What is known of `address`.
    fn address(&mut self, address: IpAddr, now: Duration) -> &mut Address {
        if self.addresses.len() >= ADDRESSES && !self.addresses.contains_key(&address) {
            self.addresses.retain(|_, known| !known.is_nothing(now));
            let idle = self.addresses.iter().filter(|(_, known)| known.inside == 0);
            let oldest = idle.min_by_key(|(_, known)| known.failed_at).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| self.addresses.len() >= ADDRESSES) {
                self.addresses.remove(&oldest);
            }
        }
        let known = self.addresses.entry(address).or_default();
        if known.failures > 0 && known.is_over(now) {
            known.forget();
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
        Self { clock, state: Mutex::default() }
    }

    /// Waits until `credential`, which came from `peer`, may be looked at.
    pub(super) async fn enter(&self, peer: IpAddr, credential: Digest) -> Result<Look<'_>, TooMany> {
        let mut look = Look {
            slow_down: self,
            address: network_of(peer),
            credential,
            stage: Stage::Passing,
            free: None,
        };
        let Some(free) = look.begin() else { return Ok(look) };
        match free.acquire_owned().await {
            Ok(permit) => look.free = Some(permit),
            // All are used up, and nobody gets any more.
            Err(_) => {
                let pause = look.pause()?;
                self.clock.sleep(pause).await;
            }
        }
        look.go_on(&mut self.state(), Stage::Looking);
        Ok(look)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a credential, until it is dropped.
#[must_use]
pub(super) struct Look<'a> {
    slow_down: &'a SlowDown,
    address: IpAddr,
    credential: Digest,
    stage: Stage,
    /// One of the looks that cost nothing.
    free: Option<OwnedSemaphorePermit>,
}

/// How far a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is looked at and counted nowhere.
    Passing,
    /// It waits for one of the looks that cost nothing.
    Waiting,
    Pausing,
    Looking,
}

impl Look<'_> {
    /// It opens something.
    pub(super) fn got_in(self) {
        self.slow_down.state().know(self.credential, self.slow_down.clock.monotonic());
    }

    /// It opens nothing.
    pub(super) fn failed(mut self) {
        if let Some(free) = self.free.take() {
            free.forget();
        }
        let mut state = self.slow_down.state();
        let now = self.slow_down.clock.monotonic();
        state.known.remove(&self.credential);
        state.address(self.address, now).fail(now);
    }

    /// What it has to wait for; none where it passes.
    fn begin(&mut self) -> Option<Arc<Semaphore>> {
        let now = self.slow_down.clock.monotonic();
        let mut state = self.slow_down.state();
        if state.is_known(&self.credential, now) {
            return None;
        }
        let address = state.address(self.address, now);
        // The same again at the same time is no further guess.
        if address.looking.contains(&self.credential) {
            return None;
        }
        address.inside += 1;
        self.stage = Stage::Waiting;
        Some(Arc::clone(&address.free))
    }

    /// How long it has to pause.
    fn pause(&mut self) -> Result<Duration, TooMany> {
        let slow_down = self.slow_down;
        let mut state = slow_down.state();
        if state.pausing >= PAUSING {
            return Err(TooMany);
        }
        let pause = state.address(self.address, slow_down.clock.monotonic()).pause();
        self.go_on(&mut state, Stage::Pausing);
        Ok(pause)
    }

    fn go_on(&mut self, state: &mut State, stage: Stage) {
        let before = std::mem::replace(&mut self.stage, stage);
        state.pausing -= usize::from(before == Stage::Pausing);
        state.pausing += usize::from(stage == Stage::Pausing);
        let Some(address) = state.addresses.get_mut(&self.address) else { return };
        match before {
            Stage::Pausing => address.pausing -= 1,
            Stage::Looking => address.looking.retain(|credential| *credential != self.credential),
            Stage::Passing | Stage::Waiting => {}
        }
        match stage {
            Stage::Pausing => address.pausing += 1,
            Stage::Looking => address.looking.push(self.credential),
            Stage::Passing => address.inside -= usize::from(before != Stage::Passing),
            Stage::Waiting => {}
        }
        if address.is_nothing(self.slow_down.clock.monotonic()) {
            state.addresses.remove(&self.address);
        }
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let slow_down = self.slow_down;
        self.go_on(&mut slow_down.state(), Stage::Passing);
    }
}

/// Who has one IPv6 address has a /64 of them.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}
