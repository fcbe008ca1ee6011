//! A gateway and its people.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use shuttle::future::{JoinHandle, block_on, spawn, yield_now};
use tether_core::action::{Action, Status};
use tether_core::clock::{Clock, Timestamp};
use tether_core::digest::Digest;
use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Channel, Role};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::problem::{Code, Problem};
use tether_interleavings::{Gateway, Outcome, Settings, Told};

use crate::handlers::{Act, Scripted};
use crate::store::Actions;

/// What one confirmation was told.
pub(crate) type Answer = Result<Told, Code>;

pub(crate) struct World {
    pub(crate) actions: Arc<Actions>,
    pub(crate) handlers: Arc<Scripted>,
    pub(crate) gateway: Arc<Gateway>,
}

impl World {
    /// Attempts do `acts`, one after the other.
    pub(crate) fn new(acts: &[Act]) -> Self {
        Self::with(acts, Settings::default(), Hourglass { runs_out: false })
    }

    pub(crate) fn with(acts: &[Act], settings: Settings, clock: Hourglass) -> Self {
        let actions = Arc::new(Actions::default());
        let handlers = Arc::new(Scripted::new(acts, Arc::clone(&actions)));
        let gateway = Gateway::new(actions.clone(), handlers.clone(), Arc::new(clock), settings);
        Self { actions, handlers, gateway }
    }

    /// A person's confirmation, in a task of its own.
    pub(crate) fn confirm(&self, id: ActionId, key: Option<&str>, seen: Option<u32>) -> JoinHandle<Answer> {
        self.confirm_by("ann", id, key, seen)
    }

    /// The same of another person.
    pub(crate) fn confirm_by(
        &self,
        user: &str,
        id: ActionId,
        key: Option<&str>,
        seen: Option<u32>,
    ) -> JoinHandle<Answer> {
        let (gateway, key) = (Arc::clone(&self.gateway), key.map(|key| key.parse().unwrap()));
        let person = Caller { user: user.parse().unwrap(), ..person() };
        spawn(async move { told(gateway.confirm(&person, id, key, seen).await) })
    }

    /// One round of a sweeper, in a task of its own.
    pub(crate) fn sweep(&self) -> JoinHandle<()> {
        let gateway = Arc::clone(&self.gateway);
        spawn(async move { gateway.sweep().await.unwrap() })
    }

    /// Checks what must be so when nobody does anything any more: what was told is written.
    pub(crate) async fn rest(&self, id: ActionId) -> Action {
        self.gateway.idle().await;
        let (action, inside) = (self.actions.peek(id), self.handlers.inside());
        assert_ne!(action.state.status(), Status::Executing, "left executing");
        assert_eq!(inside, 0, "an attempt runs on");
        action
    }
}

pub(crate) fn told(answer: Result<Outcome, Problem>) -> Answer {
    answer.map(|outcome| outcome.told).map_err(|problem| problem.code)
}

/// Waits for all of them.
pub(crate) async fn all(people: Vec<JoinHandle<Answer>>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for person in people {
        answers.push(person.await.unwrap());
    }
    answers
}

pub(crate) fn count(answers: &[Answer], wanted: Answer) -> usize {
    answers.iter().filter(|answer| **answer == wanted).count()
}

/// Lives a life, in which everything that the checker does not decide is the same.
pub(crate) fn live(life: impl Future<Output = ()>) {
    block_on(life);
}

pub(crate) fn person() -> Caller {
    of_tenant("acme")
}

pub(crate) fn of_tenant(tenant: &str) -> Caller {
    Caller {
        tenant: tenant.parse().unwrap(),
        user: "ann".parse().unwrap(),
        roles: vec![Role::Agent, Role::Approver],
        channel: Channel::Api,
        alone: false,
        operator: false,
    }
}

/// A clock that stands still. Who waits for a place gives up whenever the checker says
/// so, if it runs out; who waits for an attempt never does.
pub(crate) struct Hourglass {
    pub(crate) runs_out: bool,
}

impl Clock for Hourglass {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        if self.runs_out && span <= Settings::default().queue_time {
            return Box::pin(yield_now());
        }
        Box::pin(pending())
    }
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn binding() -> Binding {
    Binding::Component(BoundComponent {
        component: "scripted".parse().unwrap(),
        digest: Digest::of("scripted"),
        grants: Default::default(),
    })
}
