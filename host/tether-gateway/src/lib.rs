//! The gateway: everything that happens between a caller and a handler.
//!
//! [`Gateway::call`] runs reads and proposes writes, [`Gateway::confirm`] runs a
//! write once, and [`Gateway::recover`] settles what a crash left behind. The
//! floors below are reached through core's ports, so that all of this is tested
//! with neither Wasm nor SQL.

mod admit;
mod away;
mod call;
mod confirm;
mod decline;
mod journal;
mod look;
mod outcome;
mod propose;
mod recover;
mod settle;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::id::{ActionId, RequestId};
use tether_core::port::actions::ActionStore;
use tether_core::port::handlers::Handlers;
use tether_core::retry::RetryPolicy;

pub use call::{Answer, Called};
pub use outcome::{Outcome, Told, failure_of};
pub use recover::Recovered;

/// How a gateway behaves; see the `tool_transport` and `actions` sections of the
/// configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Reads: attempts and pauses. Writes: the time of an attempt.
    pub retry: RetryPolicy,
    /// Attempts that an action may use in all, 1 or more.
    pub max_attempts: u32,
    /// How long a person has to decide.
    pub expires_after: Duration,
    /// Handlers that run at the same time.
    pub max_concurrent: usize,
    /// Those of one tenant.
    pub max_concurrent_per_tenant: usize,
    /// How long a call waits for its turn before it is told `OVERLOADED`.
    pub queue_time: Duration,
    /// How long the result of an action is kept.
    pub keep_results: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            max_attempts: 3,
            expires_after: Duration::from_secs(24 * 3600),
            max_concurrent: 256,
            max_concurrent_per_tenant: 256,
            queue_time: Duration::from_secs(5),
            keep_results: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

/// See the crate's documentation.
pub struct Gateway {
    actions: Arc<dyn ActionStore>,
    handlers: Arc<dyn Handlers>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    turns: admit::Turns,
    endings: settle::Endings,
    components_due: sweep::Due,
}

impl Gateway {
    /// A gateway on these floors. Call [`Gateway::recover`] before it serves.
    pub fn new(
        actions: Arc<dyn ActionStore>,
        handlers: Arc<dyn Handlers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Arc<Self> {
        let turns = admit::Turns::new(settings.max_concurrent, settings.max_concurrent_per_tenant);
        Arc::new(Self {
            actions,
            handlers,
            clock,
            settings,
            turns,
            endings: settle::Endings::default(),
            components_due: sweep::Due::default(),
        })
    }
}

fn fresh_action_id() -> ActionId {
    ActionId::from_random(random())
}

fn fresh_request_id() -> RequestId {
    RequestId::from_random(random())
}

/// A random number from 0 to 1.
fn chance() -> f64 {
    f64::from(u32::from_ne_bytes(random())) / f64::from(u32::MAX)
}

/// # Panics
///
/// If the system has no random numbers: then no key would be safe.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes
}
