//! Whether what was seen from outside is what action and records tell.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Findings, Rule, Seen, Word};
use crate::action::{Output, State};
use crate::id::StepName;
use crate::json::JsonText;
use crate::ledger::{Answer, Effect, Fact};

pub(super) fn check(case: &Case, seen: &[Seen], claimed: &BTreeSet<u32>, findings: &mut Findings) {
    let mut story = Story::default();
    for one in seen {
        story.goes_on(one, claimed, findings);
    }
    story.check_words(findings);
    story.check_results(case, findings);
    story.check_kept(case, findings);
}

/// What was seen so far.
#[derive(Default)]
struct Story<'a> {
    running: Option<u32>,
    begun: BTreeSet<u32>,
    /// Attempts that said that they were done, and never meant to leave a record.
    done: BTreeSet<u32>,
    committed: Vec<(u32, Option<&'a StepName>)>,
    arrived: BTreeMap<u32, usize>,
    results: Vec<&'a JsonText>,
    /// Whether somebody was told that his confirmation did it.
    claimed_success: bool,
    /// Failures that were told: after how many attempts, and with which effect.
    failures: Vec<(u32, Option<Effect>)>,
}

impl<'a> Story<'a> {
    fn goes_on(&mut self, seen: &'a Seen, claimed: &BTreeSet<u32>, findings: &mut Findings) {
        match seen {
            Seen::Began { attempt } => self.begins(*attempt, claimed, findings),
            Seen::Ended { attempt, done } => {
                self.running = self.running.filter(|running| running != attempt);
                if *done {
                    self.done.insert(*attempt);
                }
            }
            Seen::Died => self.running = None,
            Seen::Committed { attempt, step } => {
                self.acts("committed", *attempt, findings);
                if step.is_none() && self.committed.iter().any(|(_, step)| step.is_none()) {
                    findings.add(Rule::OneEffect, format!("attempt {attempt} committed it a second time"));
                }
                self.committed.push((*attempt, step.as_ref()));
            }
            Seen::Arrived { attempt } => {
                self.acts("sent a request", *attempt, findings);
                *self.arrived.entry(*attempt).or_default() += 1;
            }
            Seen::Told { attempts_used, word } => self.is_told(*attempts_used, word, findings),
        }
    }

    fn begins(&mut self, attempt: u32, claimed: &BTreeSet<u32>, findings: &mut Findings) {
        if !claimed.contains(&attempt) {
            findings.add(Rule::FromSomewhere, format!("attempt {attempt} ran, and nobody confirmed it"));
        }
        if let Some(other) = self.running {
            let what = format!("attempt {attempt} began while attempt {other} ran");
            findings.add(Rule::OneAttempt, what);
        }
        if !self.begun.insert(attempt) {
            findings.add(Rule::Attempts, format!("attempt {attempt} ran twice"));
        }
        self.running = Some(attempt);
    }

    /// An attempt acted on the world.
    fn acts(&self, what: &str, attempt: u32, findings: &mut Findings) {
        if !self.begun.contains(&attempt) {
            findings.add(Rule::FromSomewhere, format!("attempt {attempt} {what}, and never ran"));
        }
        if let Some(later) = self.begun.last().filter(|later| **later > attempt) {
            let what = format!("attempt {attempt} {what} when attempt {later} had begun");
            findings.add(Rule::OneAttempt, what);
        }
    }

    fn is_told(&mut self, attempts_used: u32, word: &'a Word, findings: &mut Findings) {
        let result = match word {
            Word::Failed(effect) => {
                if !self.results.is_empty() {
                    let what = "somebody was told that it failed, after another that it was done";
                    findings.add(Rule::Recorded, what);
                }
                self.failures.push((attempts_used, *effect));
                return;
            }
            Word::DoneBefore(result) => result,
            Word::Done(result) => {
                if self.claimed_success {
                    findings.add(Rule::OneEffect, "two confirmations were told that they did it");
                }
                self.claimed_success = true;
                result
            }
        };
        if self.main().is_none() && !self.done.contains(&attempts_used) {
            findings.add(Rule::Recorded, "somebody was told that it is done, and nothing was recorded");
        }
        self.results.push(result);
    }

    /// The attempt that committed the main transaction.
    fn main(&self) -> Option<u32> {
        self.committed.iter().find(|(_, step)| step.is_none()).map(|(attempt, _)| *attempt)
    }

    /// What was told of failures must be true of all attempts up to then, also when
    /// something of them happened later.
    fn check_words(&self, findings: &mut Findings) {
        for (told_after, effect) in &self.failures {
            if self.main().is_some_and(|attempt| attempt <= *told_after) {
                let what =
                    format!("a failure of attempt {told_after} was told, and it had been, or was, done");
                findings.add(Rule::Recorded, what);
            }
            let committed = self.committed.iter().any(|(attempt, _)| attempt <= told_after);
            let arrived = self.arrived.keys().any(|attempt| attempt <= told_after);
            let wrong = match effect {
                Some(Effect::None) if committed || arrived => "no effect was told, and there was one",
                Some(Effect::Applied) if !committed => "an effect was told, and nothing was committed",
                _ => continue,
            };
            findings.add(Rule::Effect, format!("after attempt {told_after}: {wrong}"));
        }
    }

    /// Everybody was told the same, and that is what is stored.
    fn check_results(&self, case: &Case, findings: &mut Findings) {
        let stored = match &case.action.state {
            State::Succeeded { output: Output::Kept(output), .. } => Some(output),
            _ => None,
        };
        let mut results = self.results.iter().copied().chain(stored);
        if let Some(first) = results.next()
            && results.any(|other| other != first)
        {
            findings.add(Rule::EqualResults, "two were told different results, or another than is stored");
        }
        if let State::Succeeded { attempts_used, .. } = case.action.state
            && self.main().is_none()
            && !self.done.contains(&attempts_used)
        {
            findings.add(Rule::Recorded, "it is stored as succeeded, and nothing was recorded");
        }
    }

    /// What landed is recorded, and what left is noted.
    fn check_kept(&self, case: &Case, findings: &mut Findings) {
        if let Ok(records) = &case.records {
            let landed: BTreeSet<_> = self.committed.iter().copied().collect();
            let kept: BTreeSet<_> =
                records.iter().map(|record| (record.attempt, record.step.as_ref())).collect();
            for (attempt, _) in landed.difference(&kept) {
                let what = format!("attempt {attempt} committed, and there is no record of it");
                findings.add(Rule::EndAgrees, what);
            }
            for (attempt, _) in kept.difference(&landed) {
                let what = format!("there is a record of attempt {attempt}, which never committed it");
                findings.add(Rule::FromSomewhere, what);
            }
        }
        for (attempt, arrived) in &self.arrived {
            let left = |answer: Answer| answer != Answer::NotSent;
            let entries = case.action.ledger.entries().iter().filter(|entry| entry.attempt == *attempt);
            let noted =
                entries.filter(|entry| matches!(entry.fact, Fact::Sent { answer, .. } if left(answer)));
            let noted = noted.count();
            if *arrived > noted {
                let what = format!("{arrived} requests of attempt {attempt} arrived, and {noted} are noted");
                findings.add(Rule::FromSomewhere, what);
            }
        }
    }
}
