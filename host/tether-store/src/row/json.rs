//! Ledgers and failures, which nobody queries: JSON in one column.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tether_core::clock::Timestamp;
use tether_core::failure::{Cause, Failure};
use tether_core::ledger::{Entry, Fact, Ledger};

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
}

pub(super) fn write_ledger(ledger: &Ledger) -> String {
    let entries = ledger.entries().iter().map(|entry| StoredEntry {
        at: entry.at.as_millis(),
        attempt: entry.attempt,
        fact: match &entry.fact {
            Fact::Committed { database, step, statements } => StoredFact::Committed {
                database: database.to_string(),
                step: step.as_ref().map(|step| step.to_string()),
                statements: statements.clone(),
            },
        },
    });
    to_text(&entries.collect::<Vec<_>>())
}

pub(super) fn read_ledger(text: &str) -> anyhow::Result<Ledger> {
    let stored: Vec<StoredEntry> = serde_json::from_str(text)?;
    let entries = stored.into_iter().map(|entry| {
        let fact = match entry.fact {
            StoredFact::Committed { database, step, statements } => Fact::Committed {
                database: database.parse()?,
                step: step.map(|step| step.parse()).transpose()?,
                statements,
            },
        };
        Ok(Entry { at: Timestamp::from_millis(entry.at), attempt: entry.attempt, fact })
    });
    Ok(Ledger::new(entries.collect::<anyhow::Result<_>>()?))
}

fn to_text(value: &impl Serialize) -> String {
    // Strings, numbers and lists of them: there is nothing that JSON cannot say.
    serde_json::to_string(value).expect("plain data is JSON")
}
