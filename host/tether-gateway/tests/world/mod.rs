//! A world for the gateway: a store and handlers in memory, which outlive the
//! gateway as disks outlive a process, and a fuse that ends a life at any step.

#![allow(dead_code, unused_imports, reason = "every test file uses a part of it")]

mod actions;
pub(crate) mod gates;
mod handlers;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use tether_core::action::Action;
use tether_core::clock::{Clock, Timestamp};
use tether_core::id::{ActionId, IdempotencyKey};
use tether_core::identity::{Caller, Channel, Role};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::problem::Problem;
use tether_gateway::{Called, Gateway, Outcome, Settings};

pub(crate) use actions::MemoryActions;
use gates::Gates;
pub(crate) use handlers::{Act, ScriptedHandlers, Then, offer, request};

/// What survives a crash, and the fuse.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) actions: Arc<MemoryActions>,
    pub(crate) handlers: Arc<ScriptedHandlers>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) fuse: Arc<Fuse>,
}

impl World {
    /// A world whose handler does `acts`, one for each attempt, the last one for
    /// all that follow.
    pub(crate) fn new(acts: &[Act]) -> Self {
        let fuse = Arc::new(Fuse::default());
        Self {
            actions: Arc::new(MemoryActions::new(Arc::clone(&fuse))),
            handlers: Arc::new(ScriptedHandlers::new(acts, Arc::clone(&fuse))),
            clock: Arc::new(ManualClock::default()),
            fuse,
        }
    }

    /// A process on this world.
    pub(crate) fn gateway(&self) -> Arc<Gateway> {
        self.gateway_with(Settings::default())
    }

    pub(crate) fn gateway_with(&self, settings: Settings) -> Arc<Gateway> {
        Gateway::new(self.actions.clone(), self.handlers.clone(), self.clock.clone(), settings)
    }

    /// Runs `life` in a process of its own. None where the fuse ended it: then
    /// every task has been cut off where it was.
    pub(crate) fn live<T: Send + 'static>(
        &self,
        life: impl AsyncFnOnce(Arc<Gateway>) -> T + Send + 'static,
    ) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (gateway, fuse) = (self.gateway(), Arc::clone(&self.fuse));
        let outcome = runtime.block_on(async {
            tokio::select! {
                biased;
                () = fuse.blown() => None,
                outcome = life(gateway) => Some(outcome),
            }
        });
        drop(runtime);
        outcome
    }

    /// The action's row, as somebody who opens the file would see it.
    pub(crate) fn stored(&self, id: ActionId) -> Action {
        self.actions.peek(id)
    }
}

/// Ends a life when so many steps were taken. A step is taken before and after
/// everything that is durable.
#[derive(Default)]
pub(crate) struct Fuse {
    taken: AtomicUsize,
    blows_at: AtomicUsize,
    notify: tokio::sync::Notify,
    /// Where each step waits for the test, if it does.
    gates: Option<Arc<Gates>>,
}

impl Fuse {
    /// One that never blows, and whose steps wait at `gates`.
    pub(crate) fn gated(gates: Arc<Gates>) -> Self {
        Self { gates: Some(gates), ..Self::default() }
    }

    /// The next life ends at its `step`-th step, counted from 1; 0 for never.
    pub(crate) fn set(&self, step: usize) {
        self.taken.store(0, Ordering::SeqCst);
        self.blows_at.store(step, Ordering::SeqCst);
    }

    /// Steps that the life has taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Waits for the test where nothing is durable, if the test wants that.
    pub(crate) async fn pause(&self) {
        if let Some(gates) = &self.gates {
            gates.pass().await;
        }
    }

    /// Takes a step; where the fuse blows, nothing after it happens.
    pub(crate) async fn step(&self) {
        if let Some(gates) = &self.gates {
            return gates.pass().await;
        }
        let step = self.taken.fetch_add(1, Ordering::SeqCst) + 1;
        let blows_at = self.blows_at.load(Ordering::SeqCst);
        if blows_at != 0 && step >= blows_at {
            // Whoever was told something by now has heard it.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.notify.notify_one();
            pending::<()>().await;
        }
    }

    async fn blown(&self) {
        self.notify.notified().await;
    }
}

/// A clock that stands still until a test moves it, and whose sleepers wake when
/// everybody else waits.
pub(crate) struct ManualClock {
    millis: AtomicI64,
    /// How far the time of day was set back.
    behind: AtomicI64,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self { millis: AtomicI64::new(1_000_000), behind: AtomicI64::new(0) }
    }
}

impl ManualClock {
    pub(crate) fn advance(&self, span: Duration) {
        self.millis.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn set_back(&self, span: Duration) {
        self.behind.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let behind = self.behind.load(Ordering::SeqCst);
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst) - behind)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::SeqCst).unsigned_abs())
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        // Long sleeps are time-outs of waiters: nobody in these tests lets them end.
        if span >= Duration::from_secs(1) {
            return Box::pin(pending());
        }
        self.advance(span);
        Box::pin(tokio::task::yield_now())
    }
}

pub(crate) fn agent() -> Caller {
    caller("agent-7", &[Role::Agent])
}

pub(crate) fn ann() -> Caller {
    caller("ann", &[Role::Approver])
}

pub(crate) fn bob() -> Caller {
    caller("bob", &[Role::Approver])
}

pub(crate) fn caller(user: &str, roles: &[Role]) -> Caller {
    Caller {
        tenant: "acme".parse().unwrap(),
        user: user.parse().unwrap(),
        roles: roles.to_vec(),
        channel: Channel::Api,
        alone: false,
        operator: false,
    }
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn key(text: &str) -> Option<IdempotencyKey> {
    Some(text.parse().unwrap())
}

/// Proposes the write.
pub(crate) async fn propose(gateway: &Arc<Gateway>, key: Option<IdempotencyKey>) -> Result<Action, Problem> {
    match gateway.call(&agent(), "write", json("{\"n\":1}"), key).await? {
        Called::Proposed(action) => Ok(*action),
        Called::Answer(answer) => panic!("a write was answered at once: {answer:?}"),
    }
}

/// The words that a person is told: the status and, if there is one, the code.
pub(crate) fn words(outcome: &Outcome) -> String {
    match outcome.error() {
        Some((code, _)) => format!("{:?} {code}", outcome.told).replace(&format!("({code:?})"), ""),
        None => format!("{:?}", outcome.told),
    }
}
