//! Ledgers, failures and approvals, which nobody queries: JSON in one column.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tether_core::action::{Approval, Claim};
use tether_core::clock::Timestamp;
use tether_core::failure::{Cause, Failure};
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};

#[derive(Serialize, Deserialize)]
struct StoredFailure {
    cause: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    handler_code: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

pub(super) fn write_failure(failure: &Failure) -> String {
    let Failure { cause, handler_code, message, retry_after } = failure;
    to_text(&StoredFailure {
        cause: cause.as_str().to_owned(),
        handler_code: handler_code.clone(),
        message: message.clone(),
        retry_after_ms: retry_after.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX)),
    })
}

pub(super) fn read_failure(text: &str) -> anyhow::Result<Failure> {
    let stored: StoredFailure = serde_json::from_str(text)?;
    let cause = Cause::from_word(&stored.cause);
    Ok(Failure {
        cause: cause.ok_or_else(|| anyhow::anyhow!("{:?} is no cause of a failure", stored.cause))?,
        handler_code: stored.handler_code,
        message: stored.message,
        retry_after: stored.retry_after_ms.map(Duration::from_millis),
    })
}

#[derive(Serialize, Deserialize)]
struct StoredApproval {
    by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    at: i64,
}

/// None where there is none.
pub(super) fn write_approvals(approvals: &[Approval]) -> Option<String> {
    let stored = approvals.iter().map(|Approval { claim: Claim { by, key }, at }| StoredApproval {
        by: by.to_string(),
        key: key.as_ref().map(|key| key.to_string()),
        at: at.as_millis(),
    });
    (!approvals.is_empty()).then(|| to_text(&stored.collect::<Vec<_>>()))
}

pub(super) fn read_approvals(text: &str) -> anyhow::Result<Vec<Approval>> {
    let stored: Vec<StoredApproval> = serde_json::from_str(text)?;
    let approval = |StoredApproval { by, key, at }: StoredApproval| {
        let claim = Claim { by: by.parse()?, key: key.map(|key| key.parse()).transpose()? };
        Ok(Approval { claim, at: Timestamp::from_millis(at) })
    };
    stored.into_iter().map(approval).collect()
}

#[derive(Serialize, Deserialize)]
struct StoredEntry {
    at: i64,
    attempt: u32,
    #[serde(flatten)]
    fact: StoredFact,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
enum StoredFact {
    Committed {
        database: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        statements: Vec<String>,
    },
    Sent {
        method: String,
        origin: String,
        path: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        answer: StoredAnswer,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAnswer {
    InDoubt,
    NotSent,
    Status(u16),
}

pub(super) fn write_ledger(ledger: &Ledger) -> String {
    let entries = ledger.entries().iter().map(|entry| StoredEntry {
        at: entry.at.as_millis(),
        attempt: entry.attempt,
        fact: StoredFact::from(&entry.fact),
    });
    to_text(&entries.collect::<Vec<_>>())
}

pub(super) fn read_ledger(text: &str) -> anyhow::Result<Ledger> {
    let stored: Vec<StoredEntry> = serde_json::from_str(text)?;
    let entries = stored.into_iter().map(|entry| {
        Ok(Entry {
            at: Timestamp::from_millis(entry.at),
            attempt: entry.attempt,
            fact: entry.fact.try_into()?,
        })
    });
    Ok(Ledger::new(entries.collect::<anyhow::Result<_>>()?))
}

/// What a ledger tells of attempts other than `running`, in its own form; none where it tells
/// of no other. What cannot be read is taken as it is: nobody wrote it.
pub(super) fn without_attempt(ledger: &str, running: i64) -> Option<String> {
    let Ok(mut entries) = serde_json::from_str::<Vec<StoredEntry>>(ledger) else {
        return Some(ledger.to_owned());
    };
    entries.retain(|entry| i64::from(entry.attempt) != running);
    (!entries.is_empty()).then(|| to_text(&entries))
}

impl From<&Fact> for StoredFact {
    fn from(fact: &Fact) -> Self {
        match fact {
            Fact::Committed { database, step, statements } => Self::Committed {
                database: database.to_string(),
                step: step.as_ref().map(|step| step.to_string()),
                statements: statements.clone(),
            },
            Fact::Sent { request: Request { method, origin, path, step }, answer } => Self::Sent {
                method: method.to_string(),
                origin: origin.clone(),
                path: path.clone(),
                step: step.as_ref().map(|step| step.to_string()),
                answer: match answer {
                    Answer::InDoubt => StoredAnswer::InDoubt,
                    Answer::NotSent => StoredAnswer::NotSent,
                    Answer::Status(status) => StoredAnswer::Status(*status),
                },
            },
        }
    }
}

impl TryFrom<StoredFact> for Fact {
    type Error = anyhow::Error;

    fn try_from(stored: StoredFact) -> anyhow::Result<Self> {
        Ok(match stored {
            StoredFact::Committed { database, step, statements } => Self::Committed {
                database: database.parse()?,
                step: step.map(|step| step.parse()).transpose()?,
                statements,
            },
            StoredFact::Sent { method, origin, path, step, answer } => Self::Sent {
                request: Request {
                    method: method.parse()?,
                    origin,
                    path,
                    step: step.map(|step| step.parse()).transpose()?,
                },
                answer: match answer {
                    StoredAnswer::InDoubt => Answer::InDoubt,
                    StoredAnswer::NotSent => Answer::NotSent,
                    StoredAnswer::Status(status) => Answer::Status(status),
                },
            },
        })
    }
}

fn to_text(value: &impl Serialize) -> String {
    // Strings, numbers and lists of them: there is nothing that JSON cannot say.
    serde_json::to_string(value).expect("plain data is JSON")
}
