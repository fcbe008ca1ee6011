//! What an attempt came to: decided from how it ended and from the records.

use crate::action::Verdict;
use crate::failure::{Cause, Failure};
use crate::json::JsonText;
use crate::ledger::{Entry, Fact, Ledger};
use crate::port::databases::Record;

/// How an attempt ended, before the records were asked.
#[derive(Debug, Clone)]
pub enum Ending {
    /// `invoke` returned an output.
    Returned {
        /// The output.
        output: JsonText,
        /// Whether the handler began a main transaction on the way.
        began_main: bool,
    },
    /// It failed.
    Failed(Failure),
    /// Nobody saw its end: the host went away.
    Interrupted,
}

/// The verdict on an attempt. The main record decides; what `invoke` returned
/// counts only where the handler never meant to leave one.
pub fn verdict(ending: &Ending, records: &[Record]) -> Verdict {
    if let Some(main) = records.iter().find(|record| record.step.is_none()) {
        return Verdict::Succeeded(main.output.clone());
    }
    match ending {
        Ending::Returned { output, began_main: false } => Verdict::Succeeded(output.clone()),
        Ending::Returned { began_main: true, .. } => Verdict::Failed(Failure::new(
            Cause::Failed,
            "the handler said that it is done, but never committed the transaction that it began",
        )),
        Ending::Failed(failure) => Verdict::Failed(failure.clone()),
        Ending::Interrupted => Verdict::Failed(Failure::new(
            Cause::Interrupted,
            "the host went away in the middle of the attempt",
        )),
    }
}

/// The ledger of an action, all attempts together: what its records tell, and what
/// was `noted` as sent.
pub fn ledger(records: &[Record], noted: &Ledger) -> Ledger {
    let entry = |record: &Record| Entry {
        at: record.at,
        attempt: record.attempt,
        fact: Fact::Committed {
            database: record.database.clone(),
            step: record.step.clone(),
            statements: record.statements.clone(),
        },
    };
    Ledger::new(records.iter().map(entry).chain(sent(noted).cloned()).collect())
}

fn sent(noted: &Ledger) -> impl Iterator<Item = &Entry> {
    noted.entries().iter().filter(|entry| matches!(entry.fact, Fact::Sent { .. }))
}

/// Whether a host that went away now would find this very end again, in the records and in
/// what is `stored` of that which was `noted`: then it may be told before it is written.
pub fn is_found_again(verdict: &Verdict, records: &[Record], noted: &Ledger, stored: &Ledger) -> bool {
    *verdict == self::verdict(&Ending::Interrupted, records) && sent(noted).eq(sent(stored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;

    fn json(text: &str) -> JsonText {
        JsonText::parse(text).unwrap()
    }

    fn record(step: Option<&str>) -> Record {
        Record {
            database: "main".parse().unwrap(),
            step: step.map(|step| step.parse().unwrap()),
            attempt: 1,
            at: Timestamp::EPOCH,
            output: json("\"recorded\""),
            statements: vec![],
        }
    }

    fn returned(began_main: bool) -> Ending {
        Ending::Returned { output: json("\"returned\""), began_main }
    }

    fn timed_out() -> Ending {
        Ending::Failed(Failure::new(Cause::TimedOut, ""))
    }

    #[track_caller]
    fn check(ending: Ending, records: &[Record], expected: &str) {
        let got = match verdict(&ending, records) {
            Verdict::Succeeded(output) => output.to_string(),
            Verdict::Failed(failure) => failure.cause.as_str().to_owned(),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn the_main_record_decides_whatever_the_attempt_says() {
        for ending in [returned(true), returned(false), timed_out(), Ending::Interrupted] {
            check(ending, &[record(Some("a")), record(None)], "\"recorded\"");
        }
    }

    #[test]
    fn without_it_a_success_must_not_have_begun_one() {
        check(returned(false), &[], "\"returned\"");
        check(returned(true), &[], "failed");
        check(returned(true), &[record(Some("a"))], "failed");
    }

    #[test]
    fn a_step_alone_is_no_success() {
        check(timed_out(), &[record(Some("a"))], "timed-out");
        check(Ending::Interrupted, &[record(Some("a"))], "interrupted");
        check(Ending::Interrupted, &[], "interrupted");
    }
}
