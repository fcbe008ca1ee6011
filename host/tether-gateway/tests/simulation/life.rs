//! One world: lives of a gateway, one after the other, on the same disks. In each step
//! chance chooses what happens next, and everything else waits.

mod chance;
mod counts;
mod process;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::action::{Action, Output, State, Status};
use tether_core::audit::{Auditor, Case, Seen, Word};
use tether_core::id::ActionId;
use tether_core::identity::Role;
use tether_core::retry::RetryPolicy;
use tether_core::rule::{Rule, Rules};
use tether_gateway::{Called, Gateway, Outcome, Settings, Told};
use tokio::task::{JoinHandle, yield_now};

use self::chance::Step;
pub(crate) use self::counts::Counts;
use self::process::{Answer, Life};
use crate::clock::SimulatedClock;
use crate::handlers::SimulatedHandlers;
use crate::model::{Asked, Ever, Model, check_told};
use crate::outside::Outside;
use crate::world::{Fuse, MemoryActions, agent, caller, json};

pub(crate) struct Simulation {
    outside: Arc<Outside>,
    clock: SimulatedClock,
    actions: Arc<MemoryActions>,
    handlers: Arc<SimulatedHandlers>,
    model: Model,
    persons: usize,
    asked: Vec<Asked>,
    outdated_once: bool,
    steps: Vec<Step>,
    counts: Counts,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let outside = Outside::new(seed);
        let fuse = Arc::new(Fuse::gated(Arc::clone(&outside.gates)));
        Self {
            clock: SimulatedClock::new(),
            actions: Arc::new(MemoryActions::new(fuse)),
            handlers: Arc::new(SimulatedHandlers::new(Arc::clone(&outside))),
            outside,
            model: Model::default(),
            persons: 0,
            asked: Vec::new(),
            outdated_once: false,
            steps: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Runs a world of so many steps. An error says what was wrong, and after which steps.
    pub(crate) fn run(seed: u64, steps: usize) -> Result<Counts, String> {
        let mut simulation = Self::new(seed);
        let done = simulation.lives(steps);
        let number = simulation.steps.len();
        let counts = Counts { steps: number, worlds: 1, ..simulation.counts.clone() };
        done.map(|()| counts).map_err(|what| simulation.told(&format!("seed {seed}, step {number}: {what}")))
    }

    /// The same, with every step and what became of the actions.
    pub(crate) fn story(seed: u64, steps: usize) -> String {
        let mut simulation = Self::new(seed);
        let done = simulation.lives(steps);
        let states: Vec<_> = simulation.all().into_iter().map(|action| action.state).collect();
        simulation.told(&format!("{done:?} {states:#?}"))
    }

    fn told(&self, last: &str) -> String {
        let mut told = String::new();
        for (index, step) in self.steps.iter().enumerate() {
            let _ = writeln!(told, "{:>4} {step:?}", index + 1);
        }
        told += last;
        // Ids are random in every run; numbers are not.
        let ids = self.actions.all().into_iter().enumerate();
        ids.fold(told, |told, (index, id)| told.replace(&id.to_string(), &format!("#{index}")))
    }

    fn lives(&mut self, steps: usize) -> Result<(), String> {
        while self.steps.len() < steps {
            let length = steps - self.steps.len();
            self.live(length)?;
        }
        Ok(())
    }

    /// One process, which dies after at most so many steps: as it is, or after everything
    /// came to its end.
    fn live(&mut self, steps: usize) -> Result<(), String> {
        self.counts.lives += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lived = runtime.block_on(self.steps_of_a_life(steps));
        drop(runtime);
        self.clock.forget_sleepers();
        lived?;
        self.outside.see_death();
        self.audit()
    }

    async fn steps_of_a_life(&mut self, steps: usize) -> Result<(), String> {
        let mut life = self.start();
        self.steps.push(Step::Live);
        let first = self.steps.len();
        self.settle(&mut life).await?;
        while self.steps.len() - first < steps {
            let step = self.some_step(&life);
            self.steps.push(step.clone());
            match step {
                Step::Die => {
                    let executing = self.all().iter().filter(|action| is_executing(action)).count();
                    self.counts.interrupted += executing;
                    return Ok(());
                }
                Step::Drain => self.drain(&mut life).await?,
                step => self.take(step, &mut life),
            }
            self.settle(&mut life).await?;
        }
        self.steps.push(Step::Drain);
        self.drain(&mut life).await?;
        self.counts.end(&self.all());
        Ok(())
    }

    fn start(&self) -> Life {
        let (places, places_of_tenant) = self.outside.random().one_of(&[(1, 1), (2, 2), (64, 64)]);
        // A rule that changes between two lives changes nothing of what was proposed before.
        let people = self.outside.random().one_of(&[1, 1, 1, 2, 3]);
        let settings = Settings {
            retry: RetryPolicy::try_new(3, Duration::from_secs(20)).unwrap(),
            max_attempts: 3,
            rules: Rules {
                default: Rule { people, expires_after: Duration::from_secs(120), ..Rule::default() },
                ..Rules::default()
            },
            max_concurrent: places,
            max_concurrent_per_tenant: places_of_tenant,
            queue_time: Duration::from_secs(5),
            keep_results: Duration::from_secs(600),
            keep_arguments: Duration::from_secs(600),
        };
        let clock = Arc::new(self.clock.clone());
        let gateway = Gateway::new(self.actions.clone(), self.handlers.clone(), clock, settings);
        let mut life = Life::of(Arc::clone(&gateway));
        life.ask(async move {
            gateway.recover().await.unwrap();
            Answer::Recovered
        });
        life
    }

    fn all(&self) -> Vec<Action> {
        self.actions.all().into_iter().map(|id| self.actions.peek(id)).collect()
    }

    fn take(&mut self, step: Step, life: &mut Life) {
        let gateway = Arc::clone(&life.gateway);
        match step {
            Step::Propose { key, arguments } => {
                self.model.proposes(key.as_ref(), arguments);
                life.ask(async move {
                    let called = gateway.call(&agent(), "write", json(arguments), key.clone()).await;
                    let proposed = called.map(|called| match called {
                        Called::Proposed(action) => *action,
                        Called::Answer(answer) => panic!("a write was answered at once: {answer:?}"),
                    });
                    Answer::Proposed(key, arguments, proposed)
                });
            }
            Step::Confirm(asked) => {
                self.counts.confirmations += 1;
                let people = self.actions.peek(asked.action).proposal.people;
                self.model.confirms(&asked, self.holder(&asked), people);
                self.asked.push(asked.clone());
                life.ask(async move {
                    let person = caller(asked.person.as_str(), &[Role::Approver]);
                    let told = gateway.confirm(&person, asked.action, asked.key.clone(), asked.seen).await;
                    Answer::Confirmed(asked, told)
                });
            }
            Step::Decline(action) => {
                let person = caller("decliner", &[Role::Approver]);
                life.ask(async move { Answer::Declined(gateway.decline(&person, action, None).await) });
            }
            Step::Sweep => {
                life.sweeps = true;
                life.ask(async move {
                    // A store that is full or locked ends the round.
                    let _ = gateway.sweep().await;
                    Answer::Swept
                });
            }
            Step::Release(index) => self.outside.gates.release(index),
            Step::Lose(index) => life.lose(index),
            Step::Advance(span) => self.clock.advance(span),
            Step::Jump(millis) => self.clock.jump(millis),
            Step::DatabaseAway(is) => self.outside.set(&self.outside.away, is),
            Step::DatabaseFull(is) => self.outside.set(&self.outside.full, is),
            Step::StoreFull(writes) => self.actions.fail_next(writes),
            Step::StoreBusy(is) => self.actions.set_busy(is),
            Step::Outdated(is) => {
                self.outdated_once |= is;
                self.outside.set(&self.outside.outdated, is);
            }
            Step::Live | Step::Die | Step::Drain => unreachable!("they are taken elsewhere"),
        }
    }

    /// The action that the key of a confirmation has claimed.
    fn holder(&self, asked: &Asked) -> Option<ActionId> {
        self.actions.key_names(&asked.person, asked.key.as_ref()?)
    }

    /// Lets everybody run until all of them wait, and hears what they were told.
    async fn settle(&mut self, life: &mut Life) -> Result<(), String> {
        let mut still = 0;
        let mut activity = (0, 0);
        while still < 3 {
            yield_now().await;
            let now = (self.outside.gates.came(), life.answers.lock().unwrap().len());
            still = if now == activity { still + 1 } else { 0 };
            activity = now;
        }
        let (finished, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut life.tasks).into_iter().partition(JoinHandle::is_finished);
        life.tasks = waiting;
        for task in finished {
            if task.await.is_err_and(|error| error.is_panic()) {
                return Err("whoever asked was told nothing: the gateway panicked".to_owned());
            }
        }
        let answers = std::mem::take(&mut *life.answers.lock().unwrap());
        answers.into_iter().try_for_each(|answer| self.hear(answer, life))
    }

    fn hear(&mut self, answer: Answer, life: &mut Life) -> Result<(), String> {
        match answer {
            Answer::Recovered => life.serves = true,
            Answer::Swept => life.sweeps = false,
            Answer::Proposed(key, arguments, told) => {
                self.model.check_proposed(key.as_ref(), arguments, &told, &self.all())?;
            }
            Answer::Declined(told) => {
                if let Ok(Outcome { action, told: Told::Declined, .. }) = &told
                    && self.actions.peek(action.id).state.status() != Status::Declined
                {
                    return Err("a decline was answered that is not kept".to_owned());
                }
            }
            Answer::Confirmed(asked, told) => {
                let (now, history) = (self.actions.peek(asked.action), self.actions.told(asked.action));
                let ever = Ever {
                    panicked: self.outside.panics.load(Ordering::SeqCst) > 0,
                    outdated: self.outdated_once,
                    recorded: self
                        .outside
                        .peek(asked.action.into())
                        .iter()
                        .any(|record| record.step.is_none()),
                    asked_again: self.asked.iter().filter(|other| other.is_of(&asked)).count() > 1,
                };
                check_told(&asked, &told, &now, &history, self.holder(&asked), ever)?;
                self.model.check_claims(asked.action, &history)?;
                if let Ok(outcome) = told {
                    self.note(&outcome);
                }
            }
        }
        Ok(())
    }

    /// For the history checker.
    fn note(&mut self, outcome: &Outcome) {
        let word = match (&outcome.told, &outcome.action.state) {
            (Told::Succeeded, State::Succeeded { output: Output::Kept(output), .. }) => {
                Word::Done(output.clone())
            }
            (Told::Replayed, State::Succeeded { output: Output::Kept(output), .. }) => {
                self.counts.replays += 1;
                Word::DoneBefore(output.clone())
            }
            (Told::Approved, _) => {
                self.counts.approvals += 1;
                return;
            }
            (Told::Failed | Told::FailedRetryable, _) => Word::Failed(outcome.action.effect()),
            _ => {
                self.counts.conflicts += 1;
                return;
            }
        };
        let attempts_used = outcome.action.state.attempts_used();
        self.outside.see(outcome.action.id.into(), Seen::Told { attempts_used, word });
    }

    /// All trouble ends, and everybody is let through until nobody waits: then every
    /// attempt is settled, and everybody was told something.
    async fn drain(&mut self, life: &mut Life) -> Result<(), String> {
        for trouble in [&self.outside.away, &self.outside.full, &self.outside.outdated] {
            self.outside.set(trouble, false);
        }
        self.actions.fail_next(0);
        self.actions.set_busy(false);
        self.release_all(life).await?;
        self.take(Step::Sweep, life);
        self.release_all(life).await?;
        if let Some(action) = self.all().iter().find(|action| is_executing(action)) {
            return Err(format!("action {} is not settled, and nothing is in the way", action.id));
        }
        if !life.tasks.is_empty() {
            return Err(format!("{} callers wait for nothing", life.tasks.len()));
        }
        self.audit()
    }

    async fn release_all(&mut self, life: &mut Life) -> Result<(), String> {
        self.settle(life).await?;
        while self.outside.gates.waiting() > 0 {
            let index = self.outside.random().below(self.outside.gates.waiting());
            self.outside.gates.release(index);
            self.settle(life).await?;
        }
        Ok(())
    }

    fn audit(&mut self) -> Result<(), String> {
        let mut auditor = Auditor::default();
        for action in self.all() {
            let key = action.id.into();
            let history = self.actions.told(action.id);
            self.model.check_claims(action.id, &history)?;
            let claim = match &action.state {
                State::Executing { claim, .. } | State::Succeeded { claim, .. } => {
                    claim.key.as_ref().map(|key| (&claim.by, key))
                }
                _ => None,
            };
            let key_names = claim.and_then(|(person, key)| self.actions.key_names(person, key));
            let (records, seen) = (Ok(self.outside.peek(key)), Some(self.outside.seen(key)));
            let case = Case { action, history, records, key_names, seen };
            if let Some(finding) = auditor.check(&case).first() {
                return Err(format!("{finding}\n{case:#?}"));
            }
        }
        Ok(())
    }
}

fn is_executing(action: &Action) -> bool {
    action.state.status() == Status::Executing
}
