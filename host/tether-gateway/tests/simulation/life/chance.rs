//! What happens next.

use std::time::Duration;

use tether_core::action::Status;
use tether_core::id::{ActionId, IdempotencyKey};

use super::{Life, Simulation};
use crate::model::Asked;

/// What chance chose.
#[derive(Debug, Clone)]
pub(super) enum Step {
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

impl Simulation {
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

    pub(super) fn some_step(&mut self, life: &Life) -> Step {
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
}
