//! The history checker: whether everything that is known of an action fits together.
//!
//! It is given what happened and decides whether it was right, from values alone; it
//! shares no decision with the gateway but the total transition function. The same
//! checker judges the simulation, which knows also what was told and what landed
//! outside, and a real data folder (`tether audit verify`), which does not.

mod history;
mod keys;
mod people;
mod records;
mod seen;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

pub use keys::{BoundKey, Keys};

use crate::action::{Action, Claim, State};
use crate::digest::Digest;
use crate::id::{ActionId, StepName};
use crate::json::JsonText;
use crate::ledger::Effect;
use crate::port::actions::HistoryEvent;
use crate::port::databases::{Record, Unreachable};

/// Everything that is known of one action.
#[derive(Debug)]
pub struct Case {
    /// The action, as it is stored.
    pub action: Action,
    /// Its history, oldest first.
    pub history: Vec<HistoryEvent>,
    /// The records that its databases hold.
    pub records: Result<Vec<Record>, Unreachable>,
    /// Which action the store has for the key of its claim, if it has one.
    pub key_names: Option<ActionId>,
    /// What was seen from outside, in order; only tests know it.
    pub seen: Option<Vec<Seen>>,
}

/// One thing that somebody outside of the host saw of an action.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The handler was started.
    Began {
        /// For which attempt.
        attempt: u32,
    },
    /// The handler ended.
    Ended {
        /// Which attempt's.
        attempt: u32,
        /// It said that it was done, and began no main transaction.
        done: bool,
    },
    /// The process died, and whatever ran in it.
    Died,
    /// A transaction of the handler landed in a database.
    Committed {
        /// Which attempt's.
        attempt: u32,
        /// Under which step; none for the main one.
        step: Option<StepName>,
    },
    /// A request arrived at its peer.
    Arrived {
        /// Which attempt's.
        attempt: u32,
    },
    /// Somebody who confirmed was told how the action stands.
    Told {
        /// Attempts used by then.
        attempts_used: u32,
        /// What else.
        word: Word,
    },
}

/// What somebody was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// This confirmation did it, with this result.
    Done(JsonText),
    /// It had been done, with this result.
    DoneBefore(JsonText),
    /// An attempt failed, and all of them had this effect.
    Failed(Option<Effect>),
}

/// What must hold of every action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// It has one effect at most.
    OneEffect,
    /// A success is said only of what is recorded, or what never meant to be, and what
    /// is recorded is a success.
    Recorded,
    /// Everybody is told the same result, the recorded one.
    EqualResults,
    /// No attempt runs beside another.
    OneAttempt,
    /// It moves only as [`Action::next`] allows, and every move is in its history.
    Transitions,
    /// Attempts count from 1, without gaps, each runs once, and they are not too many.
    Attempts,
    /// A key names one action.
    Keys,
    /// Nothing comes from nowhere: no effect without an attempt, no attempt without a
    /// person, no request without a note.
    FromSomewhere,
    /// Every attempt was confirmed by as many people as it takes.
    People,
    /// What is told of the effect is true.
    Effect,
    /// The action as stored agrees with its history and with its records.
    EndAgrees,
    /// Everything that it left can be read.
    Readable,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 12] = [
        Self::OneEffect,
        Self::Recorded,
        Self::EqualResults,
        Self::OneAttempt,
        Self::Transitions,
        Self::Attempts,
        Self::Keys,
        Self::FromSomewhere,
        Self::People,
        Self::Effect,
        Self::EndAgrees,
        Self::Readable,
    ];

    /// The rule's name, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OneEffect => "one-effect",
            Self::Recorded => "recorded",
            Self::EqualResults => "equal-results",
            Self::OneAttempt => "one-attempt",
            Self::Transitions => "transitions",
            Self::Attempts => "attempts",
            Self::Keys => "keys",
            Self::FromSomewhere => "from-somewhere",
            Self::People => "people",
            Self::Effect => "effect",
            Self::EndAgrees => "end-agrees",
            Self::Readable => "readable",
        }
    }
}

/// One rule that does not hold of one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The action.
    pub action: ActionId,
    /// The rule.
    pub rule: Rule,
    /// What is wrong, for people. Holds no arguments, results or keys.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "action {}: {} ({})", self.action, self.what, self.rule.as_str())
    }
}

/// Checks actions one after the other, and what must hold between them: it keeps one
/// entry of about 60 bytes for each key.
#[derive(Debug, Default)]
pub struct Auditor {
    /// Who confirmed with which key, as a digest, and the action that it claimed.
    keys: HashMap<Digest, ActionId>,
}

impl Auditor {
    /// Everything that is wrong with `case`; nothing where all is well.
    pub fn check(&mut self, case: &Case) -> Vec<Finding> {
        let mut findings = Findings { action: case.action.id, list: Vec::new() };
        let claimed = history::check(case, &mut findings);
        self.check_key(case, &mut findings);
        records::check(case, &claimed, &mut findings);
        if let Some(seen) = &case.seen {
            seen::check(case, seen, &claimed, &mut findings);
        }
        findings.list
    }

    fn check_key(&mut self, case: &Case, findings: &mut Findings) {
        let Some(Claim { by, key: Some(key) }) = claim(&case.action.state) else { return };
        if case.key_names != Some(case.action.id) {
            let named = case.key_names.map_or("no action".to_owned(), |other| format!("action {other}"));
            findings.add(Rule::Keys, format!("the key that claimed it names {named}"));
        }
        // No name holds a line break: two holders never give one text.
        let holder = format!("{}\n{by}\n{key}", case.action.proposal.tenant);
        let first = *self.keys.entry(Digest::of(holder)).or_insert(case.action.id);
        if first != case.action.id {
            findings.add(Rule::Keys, format!("the key that claimed it claimed action {first} as well"));
        }
    }
}

/// The claim that a state tells of.
fn claim(state: &State) -> Option<&Claim> {
    match state {
        State::Executing { claim, .. } | State::Succeeded { claim, .. } => Some(claim),
        _ => None,
    }
}

/// What was found so far about one action.
struct Findings {
    action: ActionId,
    list: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, rule: Rule, what: impl Into<String>) {
        self.list.push(Finding { action: self.action, rule, what: what.into() });
    }
}
