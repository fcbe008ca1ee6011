//! How often what happened: a world in which nothing happens would prove nothing.

use tether_core::action::{Action, Output, State, Status};

/// How often what happened, over all worlds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) steps: usize,
    pub(crate) worlds: usize,
    pub(crate) lives: usize,
    pub(crate) confirmations: usize,
    pub(crate) approvals: usize,
    pub(crate) replays: usize,
    pub(crate) conflicts: usize,
    pub(crate) interrupted: usize,
    pub(crate) erased: usize,
    pub(crate) forgotten: usize,
    /// Attempts that succeeded of which it took more than one person.
    pub(crate) together: usize,
    /// Actions by where they ended.
    pub(crate) ended: [usize; Status::ALL.len()],
}

impl Counts {
    /// A life that came to its end leaves these.
    pub(crate) fn end(&mut self, actions: &[Action]) {
        for action in actions {
            self.ended[number_of(action.state.status())] += 1;
            let erased = matches!(action.state, State::Succeeded { output: Output::Erased, .. });
            self.erased += usize::from(erased);
            self.forgotten += usize::from(action.proposal.arguments.kept().is_none());
            let succeeded = action.state.status() == Status::Succeeded;
            self.together += usize::from(succeeded && action.proposal.people > 1);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.worlds += other.worlds;
        self.lives += other.lives;
        self.confirmations += other.confirmations;
        self.approvals += other.approvals;
        self.replays += other.replays;
        self.conflicts += other.conflicts;
        self.interrupted += other.interrupted;
        self.erased += other.erased;
        self.forgotten += other.forgotten;
        self.together += other.together;
        self.ended.iter_mut().zip(other.ended).for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn ended_as(&self, status: Status) -> usize {
        self.ended[number_of(status)]
    }
}

/// Where an action can stand, for counting.
fn number_of(status: Status) -> usize {
    Status::ALL.iter().position(|other| *other == status).unwrap()
}
