//! What became of the last thing that was asked, and what standard error was told.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module. Answers come in any order: the number of a line says which was asked last.
#[derive(Default)]
pub(super) struct Outcome(Mutex<Last>);

#[derive(Default)]
struct Last {
    number: u64,
    /// Why it came to nothing on its way, if it did.
    failure: Option<String>,
    /// The last thing that was told; none since what was asked last was answered.
    told: Option<String>,
}

impl Outcome {
    /// The gateway let the line with this number in.
    pub(super) fn let_in(&self, number: u64) {
        self.note(number, None);
    }

    /// The line with this number came to nothing on its way, at least so far.
    pub(super) fn failed(&self, number: u64, words: String) {
        self.note(number, Some(words));
    }

    /// Nobody waits for the line with this number any more. Where it came to nothing so far, that
    /// is no matter: what counts is the last line `before` it that is still open, and why that
    /// came to nothing so far, if it did.
    pub(super) fn called_off(&self, number: u64, before: Option<(u64, Option<String>)>) {
        let mut last = self.last();
        if last.number == number && last.failure.is_some() {
            (last.number, last.failure) = before.unwrap_or((number, None));
        }
    }

    /// The gateway answered the line with this number. What goes wrong from here on is told,
    /// also where it is what was told before.
    pub(super) fn answered(&self, number: u64) {
        if self.note(number, None) {
            self.last().told = None;
        }
    }

    /// Says on standard error what is wrong, once.
    pub(super) fn tell(&self, words: String) {
        let mut last = self.last();
        if last.told.as_ref() != Some(&words) {
            eprintln!("{words}");
            last.told = Some(words);
        }
    }

    /// Why the last thing that was asked came to nothing on its way, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        self.last().failure.clone()
    }

    /// Whether the last thing that was asked came to nothing on its way. That it did is told
    /// by then.
    pub(super) fn has_failed(&self) -> bool {
        self.failure().map(|words| self.tell(words)).is_some()
    }

    /// Whether nothing was asked after it.
    fn note(&self, number: u64, failure: Option<String>) -> bool {
        let mut last = self.last();
        let is_last = number >= last.number;
        if is_last {
            (last.number, last.failure) = (number, failure);
        }
        is_last
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_last_counts_whichever_is_answered_last() {
        let outcome = Outcome::default();
        assert!(!outcome.has_failed());
        outcome.failed(2, "away".to_owned());
        outcome.answered(1);
        assert!(outcome.has_failed(), "an earlier line was answered later");
        outcome.let_in(3);
        outcome.failed(2, "away".to_owned());
        assert!(!outcome.has_failed(), "an earlier line failed later");
        // It was on its way, and is given up or answered.
        outcome.failed(3, "lost".to_owned());
        assert!(outcome.has_failed());
        outcome.answered(3);
        assert!(!outcome.has_failed());
    }

    #[test]
    fn what_was_called_off_counts_no_more_and_what_stands_before_it_does() {
        let away = || "away".to_owned();
        let outcome = Outcome::default();
        outcome.answered(1);
        // Neither was tried yet when the later one is called off.
        outcome.called_off(3, Some((2, None)));
        outcome.failed(2, away());
        assert!(outcome.has_failed());

        let outcome = Outcome::default();
        outcome.failed(3, away());
        outcome.called_off(3, Some((2, None)));
        assert!(!outcome.has_failed());
        outcome.failed(2, away());
        assert!(outcome.has_failed());

        let outcome = Outcome::default();
        outcome.failed(3, away());
        outcome.called_off(3, None);
        assert!(!outcome.has_failed());
        outcome.let_in(4);
        outcome.called_off(4, Some((2, Some(away()))));
        assert!(!outcome.has_failed(), "it got as far as the gateway");
    }
}
