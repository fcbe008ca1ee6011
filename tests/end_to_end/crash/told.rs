//! Whether what is told of an action is what happened outside.

use serde_json::Value;
use tether_core::action::{Action, Status};
use tether_core::ledger::{Answer as Went, Effect, Fact};

use super::writes::{Outside, Write};
use crate::support::Answer;

/// What is told of an action that nobody executes.
#[derive(Debug)]
pub(super) struct Account {
    succeeded: bool,
    attempts: usize,
    effect: Option<String>,
    /// Transactions that committed.
    steps: usize,
    mains: usize,
    /// Requests that may have left; those among them of which nobody knows more, and
    /// those that were answered.
    left: usize,
    in_doubt: usize,
    answered: usize,
}

impl Account {
    /// As a person is told, over HTTP.
    #[track_caller]
    pub(super) fn told(answer: &Answer, when: &str) -> Self {
        let status = answer.str("status");
        let settled = matches!(status, "Pending" | "FailedRetryable" | "Succeeded" | "Replayed");
        assert!(settled, "{when}: it is settled, and nothing fails for good: {}", answer.text);
        let mut account = Self {
            succeeded: matches!(status, "Succeeded" | "Replayed"),
            attempts: answer.body["attemptsUsed"].as_u64().expect("a number") as usize,
            effect: answer.body["effect"].as_str().map(str::to_owned),
            ..Self::nothing()
        };
        for entry in answer.body["ledger"].as_array().expect("a list") {
            match (entry["kind"].as_str(), entry["answer"].as_str()) {
                (Some("committed"), _) => account.commits(entry["step"] == Value::Null),
                (Some("sent"), Some(answer)) => {
                    account.sends(answer != "not_sent", answer == "in_doubt", answer == "answered");
                }
                _ => panic!("no entry is like this: {entry}"),
            }
        }
        account
    }

    /// As the file has it.
    #[track_caller]
    pub(super) fn kept(action: &Action, when: &str) -> Self {
        let status = action.state.status();
        assert_ne!(status, Status::Executing, "{when}: it is settled");
        let mut account = Self {
            succeeded: status == Status::Succeeded,
            attempts: action.state.attempts_used() as usize,
            effect: action.effect().map(|effect| effect_word(effect).to_owned()),
            ..Self::nothing()
        };
        for entry in action.ledger.entries() {
            match &entry.fact {
                Fact::Committed { step, .. } => account.commits(step.is_none()),
                Fact::Sent { answer, .. } => account.sends(
                    *answer != Went::NotSent,
                    *answer == Went::InDoubt,
                    matches!(answer, Went::Status(_)),
                ),
            }
        }
        account
    }

    fn nothing() -> Self {
        Self {
            succeeded: false,
            attempts: 0,
            effect: None,
            steps: 0,
            mains: 0,
            left: 0,
            in_doubt: 0,
            answered: 0,
        }
    }

    fn commits(&mut self, main: bool) {
        *if main { &mut self.mains } else { &mut self.steps } += 1;
    }

    fn sends(&mut self, left: bool, in_doubt: bool, answered: bool) {
        self.left += usize::from(left);
        self.in_doubt += usize::from(in_doubt);
        self.answered += usize::from(answered);
    }

    /// It is what happened.
    #[track_caller]
    pub(super) fn check(&self, write: Write, outside: &Outside, when: &str) {
        // What landed is what the ledger says, and a success is one effect.
        let notes = outside.notes(when);
        let mains = notes.iter().filter(|note| Some(**note) == write.main_row()).count();
        assert_eq!((self.mains, self.steps), (mains, notes.len() - mains), "{when}: {notes:?} {self:?}");
        if self.succeeded {
            assert_eq!(notes, write.rows(), "{when}: a success is done");
            assert!(write.main_row().is_some() || self.answered > 0, "{when}: a success was answered");
        } else {
            assert_eq!(mains, 0, "{when}: what is no success left no effect");
        }

        // Each attempt sent once at most, and nothing that is not in the ledger.
        let came = outside.requests;
        assert!(came <= self.attempts && came <= self.left, "{when}: {came} requests came: {self:?}");
        assert!(write.sends() || self.left == 0, "{when}: {self:?}");

        let effect = if self.attempts == 0 {
            None
        } else if self.in_doubt > 0 || (self.left > 0 && !self.succeeded && notes.is_empty()) {
            Some("Unknown")
        } else if self.succeeded || !notes.is_empty() {
            Some("Applied")
        } else {
            Some("None")
        };
        assert_eq!(self.effect.as_deref(), effect, "{when}: the person is told the truth: {self:?}");
    }
}

fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "None",
        Effect::Applied => "Applied",
        Effect::Unknown => "Unknown",
    }
}
