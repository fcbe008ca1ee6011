//! What a gateway is made of, and how it behaves.

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::port::actions::ActionStore;
use tether_core::port::handlers::Handlers;
use tether_core::port::people::{People, Strangers};
use tether_core::retry::RetryPolicy;
use tether_core::rule::Rules;

use crate::{admit, endings, sweep};

/// How a gateway behaves; see the `tool_transport` and `actions` sections of the
/// configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Reads: attempts and pauses. Writes: the time of an attempt.
    pub retry: RetryPolicy,
    /// Attempts that an action may use in all, 1 or more.
    pub max_attempts: u32,
    /// Who decides about which tool, how many it takes, and until when.
    pub rules: Rules,
    /// Handlers that run at the same time.
    pub max_concurrent: usize,
    /// Those of one tenant.
    pub max_concurrent_per_tenant: usize,
    /// How long a call waits for its turn before it is told `OVERLOADED`.
    pub queue_time: Duration,
    /// How long the result of an action is kept.
    pub keep_results: Duration,
    /// How long its arguments and its preview are kept once it has ended.
    pub keep_arguments: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            max_attempts: 3,
            rules: Rules::default(),
            max_concurrent: 256,
            max_concurrent_per_tenant: 256,
            queue_time: Duration::from_secs(5),
            keep_results: Duration::from_secs(30 * 24 * 3600),
            keep_arguments: Duration::from_secs(30 * 24 * 3600),
        }
    }
}

/// See the crate's documentation.
pub struct Gateway {
    pub(crate) actions: Arc<dyn ActionStore>,
    pub(crate) handlers: Arc<dyn Handlers>,
    pub(crate) people: Arc<dyn People>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) turns: admit::Turns,
    pub(crate) endings: endings::Endings,
    pub(crate) components_due: sweep::Due,
    pub(crate) tours: sweep::Tours,
}

impl Gateway {
    /// A gateway on these floors, which knows nobody. Call [`Gateway::recover`] before it
    /// serves.
    pub fn new(
        actions: Arc<dyn ActionStore>,
        handlers: Arc<dyn Handlers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Arc<Self> {
        Self::among(Arc::new(Strangers), actions, handlers, clock, settings)
    }

    /// The same among `people`, who may be turned away after they said yes.
    pub fn among(
        people: Arc<dyn People>,
        actions: Arc<dyn ActionStore>,
        handlers: Arc<dyn Handlers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Arc<Self> {
        let turns = admit::Turns::new(settings.max_concurrent, settings.max_concurrent_per_tenant);
        Arc::new(Self {
            actions,
            handlers,
            people,
            clock,
            settings,
            turns,
            endings: endings::Endings::default(),
            components_due: sweep::Due::default(),
            tours: sweep::Tours::default(),
        })
    }
}
