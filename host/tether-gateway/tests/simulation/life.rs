//! One world: lives of a gateway, one after the other, on the same disks. In each step
//! chance chooses what happens next, and everything else waits.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tether_core::action::{Action, Output, State, Status};
use tether_core::audit::{Auditor, Case, Seen, Word};
use tether_core::id::{ActionId, IdempotencyKey};
use tether_core::identity::Role;
use tether_core::problem::Problem;
use tether_core::retry::RetryPolicy;
use tether_gateway::{Called, Gateway, Outcome, Settings, Told};
use tokio::task::{JoinHandle, yield_now};

use crate::clock::SimulatedClock;
use crate::handlers::SimulatedHandlers;
use crate::model::{Asked, Ever, Model, check_told};
use crate::outside::{Outside, number_of};
use crate::world::{Fuse, MemoryActions, agent, caller, json};

/// What chance chose.
#[derive(Debug, Clone)]
enum Step {
    Live,
    Propose {
        key: Option<IdempotencyKey>,
        arguments: &'static str,
    },
    Confirm(Asked),
    Decline(ActionId),
    /// Lets one of those through that wait at a gate.
    Release(usize),
    /// A caller goes away.
    Lose(usize),
    Sweep,
    Advance(Duration),
    Jump(i64),
    DatabaseAway(bool),
    DatabaseFull(bool),
    StoreFull(usize),
    StoreBusy(bool),
    Outdated(bool),
    Die,
    Drain,
}

/// What a task was told that asked for something.
enum Answer {
    Proposed(Option<IdempotencyKey>, &'static str, Result<Action, Problem>),
    Confirmed(Asked, Result<Outcome, Problem>),
    Declined(Result<Outcome, Problem>),
    Swept,
    Recovered,
}

/// How often what happened, over all worlds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) steps: usize,
    pub(crate) worlds: usize,
    pub(crate) lives: usize,
    pub(crate) confirmations: usize,
    pub(crate) replays: usize,
    pub(crate) conflicts: usize,
    pub(crate) interrupted: usize,
    pub(crate) erased: usize,
    /// Actions by where they ended.
    pub(crate) ended: [usize; Status::ALL.len()],
}

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

/// What a process holds.
struct Life {
    gateway: Arc<Gateway>,
    answers: Arc<Mutex<Vec<Answer>>>,
    tasks: Vec<JoinHandle<()>>,
    serves: bool,
    sweeps: bool,
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
        done.map(|()| counts).map_err(|what| {
            let lines = simulation.steps.iter().enumerate();
            let lines: Vec<_> = lines.map(|(index, step)| format!("{:>4} {step:?}", index + 1)).collect();
            let told = format!("{}\nseed {seed}, step {number}: {what}", lines.join("\n"));
            // Ids are random in every run; numbers are not.
            let ids = simulation.actions.all().into_iter().enumerate();
            ids.fold(told, |told, (index, id)| told.replace(&id.to_string(), &format!("#{index}")))
        })
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
        self.count_ends();
        Ok(())
    }

    fn start(&self) -> Life {
        let (places, places_of_tenant) = self.outside.random().one_of(&[(1, 1), (2, 2), (64, 64)]);
        let settings = Settings {
            retry: RetryPolicy::try_new(3, Duration::from_secs(20)).unwrap(),
            max_attempts: 3,
            expires_after: Duration::from_secs(120),
            max_concurrent: places,
            max_concurrent_per_tenant: places_of_tenant,
            queue_time: Duration::from_secs(5),
            keep_results: Duration::from_secs(600),
        };
        let clock = Arc::new(self.clock.clone());
        let gateway = Gateway::new(self.actions.clone(), self.handlers.clone(), clock, settings);
        let mut life = Life {
            gateway: Arc::clone(&gateway),
            answers: Arc::default(),
            tasks: Vec::new(),
            serves: false,
            sweeps: false,
        };
        life.ask(async move {
            gateway.recover().await.unwrap();
            Answer::Recovered
        });
        life
    }

    fn all(&self) -> Vec<Action> {
        self.actions.all().into_iter().map(|id| self.actions.peek(id)).collect()
    }

    fn some_action(&self) -> Option<ActionId> {
        let all = self.actions.all();
        let undecided = |id: &&ActionId| {
            matches!(self.actions.peek(**id).state.status(), Status::Pending | Status::Executing)
        };
        let undecided: Vec<_> = all.iter().filter(undecided).copied().collect();
        let mut random = self.outside.random();
        // Little happens to the others.
        let among = if undecided.is_empty() || random.once_in(5) { &all } else { &undecided };
        (!among.is_empty()).then(|| random.one_of(among))
    }

    fn some_step(&mut self, life: &Life) -> Step {
        let waiting = self.outside.gates.waiting();
        let chance = self.outside.random().below(1000);
        let wanted = match chance {
            0..12 => Some(Step::Die),
            12..16 => Some(Step::Drain),
            16..40 => Some(self.some_trouble()),
            40..80 => Some(Step::Advance(Duration::from_secs(
                self.outside.random().one_of(&[1, 1, 1, 3, 6, 25, 130, 700]),
            ))),
            80..90 => Some(Step::Jump(self.outside.random().one_of(&[-200_000, -5_000, 5_000, 200_000]))),
            90..120 => {
                (!life.tasks.is_empty()).then(|| Step::Lose(self.outside.random().below(life.tasks.len())))
            }
            120..150 if life.serves && !life.sweeps => Some(Step::Sweep),
            150..190 if life.serves => Some(self.some_proposal()),
            190..340 if life.serves => self.some_confirmation(),
            340..350 if life.serves => self.some_action().map(Step::Decline),
            _ => None,
        };
        match wanted {
            Some(step) => step,
            None if waiting > 0 => Step::Release(self.outside.random().below(waiting)),
            None if life.serves && self.outside.random().once_in(3) => self.some_proposal(),
            None if life.serves => self.some_confirmation().unwrap_or_else(|| self.some_proposal()),
            None => Step::Advance(Duration::from_secs(1)),
        }
    }

    fn some_trouble(&mut self) -> Step {
        let mut random = self.outside.random();
        // Most trouble passes soon.
        let trouble = random.once_in(3);
        match random.below(5) {
            0 => Step::DatabaseAway(trouble),
            1 => Step::DatabaseFull(trouble),
            2 => Step::StoreFull(if trouble { random.below(4) } else { 0 }),
            3 => Step::StoreBusy(trouble),
            _ => Step::Outdated(trouble),
        }
    }

    fn some_proposal(&self) -> Step {
        let mut random = self.outside.random();
        let key = random.once_in(2).then(|| format!("p{}", random.below(6)).parse().unwrap());
        Step::Propose { key, arguments: random.one_of(&["{\"n\":1}", "{\"n\":1}", "{\"n\":2}"]) }
    }

    fn some_confirmation(&mut self) -> Option<Step> {
        let action = self.some_action()?;
        let repeated = {
            let mut random = self.outside.random();
            let repeats = !self.asked.is_empty() && random.once_in(4);
            repeats.then(|| {
                let recent = self.asked.len().saturating_sub(random.one_of(&[1, 6]));
                let asked = self.asked[recent + random.below(self.asked.len() - recent)].clone();
                // A key that is used for another action is a mistake, which happens.
                Asked { action: if random.once_in(3) { action } else { asked.action }, ..asked }
            })
        };
        let asked = match repeated {
            Some(asked) => asked,
            None => {
                self.persons += 1;
                let mut random = self.outside.random();
                let used = self.actions.peek(action).state.attempts_used();
                let seen = match random.below(4) {
                    0 => Some(used),
                    1 => Some(random.below(3) as u32),
                    _ => None,
                };
                Asked {
                    action,
                    person: format!("person {}", self.persons).parse().unwrap(),
                    key: random.once_in(2).then(|| format!("k{}", self.persons).parse().unwrap()),
                    seen,
                    stood: (Status::Pending, 0),
                    told: 0,
                }
            }
        };
        let state = self.actions.peek(asked.action).state;
        let stood = (state.status(), state.attempts_used());
        Some(Step::Confirm(Asked { stood, told: self.actions.told(asked.action).len(), ..asked }))
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
                self.model.confirms(&asked, self.holder(&asked));
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
        life.tasks.retain(|task| !task.is_finished());
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

    fn count_ends(&mut self) {
        for action in self.all() {
            self.counts.ended[number_of(action.state.status())] += 1;
            let erased = matches!(action.state, State::Succeeded { output: Output::Erased, .. });
            self.counts.erased += usize::from(erased);
        }
    }
}

impl Life {
    fn ask(&mut self, asking: impl Future<Output = Answer> + Send + 'static) {
        let answers = Arc::clone(&self.answers);
        self.tasks.push(tokio::spawn(async move {
            let answer = asking.await;
            answers.lock().unwrap().push(answer);
        }));
    }

    /// A caller goes away, unless it is the host itself.
    fn lose(&mut self, index: usize) {
        if self.serves && !self.sweeps {
            self.tasks.remove(index).abort();
        }
    }
}

fn is_executing(action: &Action) -> bool {
    action.state.status() == Status::Executing
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.worlds += other.worlds;
        self.lives += other.lives;
        self.confirmations += other.confirmations;
        self.replays += other.replays;
        self.conflicts += other.conflicts;
        self.interrupted += other.interrupted;
        self.erased += other.erased;
        self.ended.iter_mut().zip(other.ended).for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn ended_as(&self, status: Status) -> usize {
        self.ended[number_of(status)]
    }
}
