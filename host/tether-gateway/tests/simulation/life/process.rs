//! A process of the simulation: its gateway, and the tasks of those who ask.

use std::sync::{Arc, Mutex};

use tether_core::action::Action;
use tether_core::id::IdempotencyKey;
use tether_core::problem::Problem;
use tether_gateway::{Gateway, Outcome};
use tokio::task::JoinHandle;

use crate::model::Asked;

/// What a task was told that asked for something.
pub(super) enum Answer {
    Proposed(Option<IdempotencyKey>, &'static str, Result<Action, Problem>),
    Confirmed(Asked, Result<Outcome, Problem>),
    Declined(Result<Outcome, Problem>),
    Swept,
    Recovered,
}

/// What a process holds.
pub(super) struct Life {
    pub(super) gateway: Arc<Gateway>,
    pub(super) answers: Arc<Mutex<Vec<Answer>>>,
    pub(super) tasks: Vec<JoinHandle<()>>,
    pub(super) serves: bool,
    pub(super) sweeps: bool,
}

impl Life {
    /// One whose gateway has yet to recover.
    pub(super) fn of(gateway: Arc<Gateway>) -> Self {
        Self { gateway, answers: Arc::default(), tasks: Vec::new(), serves: false, sweeps: false }
    }

    pub(super) fn ask(&mut self, asking: impl Future<Output = Answer> + Send + 'static) {
        let answers = Arc::clone(&self.answers);
        self.tasks.push(tokio::spawn(async move {
            let answer = asking.await;
            answers.lock().unwrap().push(answer);
        }));
    }

    /// A caller goes away, unless it is the host itself.
    pub(super) fn lose(&mut self, index: usize) {
        if self.serves && !self.sweeps {
            self.tasks.remove(index).abort();
        }
    }
}
