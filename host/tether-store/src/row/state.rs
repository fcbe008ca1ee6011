//! The columns of a state. Which of them a state uses is known here only.

use rusqlite::Row;
use tether_core::action::{Claim, Output, State, Status};
use tether_core::clock::Timestamp;
use tether_core::json::JsonText;

use super::json;

/// What a state leaves in its row; a column that it does not use is NULL.
pub(super) struct StateColumns {
    pub(super) status: String,
    pub(super) attempts: u32,
    pub(super) expires_at: Option<i64>,
    pub(super) person: Option<String>,
    pub(super) claim_key: Option<String>,
    pub(super) moment: Option<i64>,
    pub(super) failure: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) output: Option<String>,
}

impl From<&State> for StateColumns {
    fn from(state: &State) -> Self {
        let mut columns = Self {
            status: state.status().as_str().to_owned(),
            attempts: state.attempts_used(),
            expires_at: None,
            person: None,
            claim_key: None,
            moment: None,
            failure: None,
            reason: None,
            output: None,
        };
        match state {
            State::Pending { attempts_used: _, expires_at, last_failure } => {
                columns.expires_at = Some(expires_at.as_millis());
                columns.failure = last_failure.as_ref().map(json::write_failure);
            }
            State::Executing { attempt: _, claim, since, expires_at, last_failure } => {
                columns.claimed_by(claim);
                columns.moment = Some(since.as_millis());
                columns.expires_at = Some(expires_at.as_millis());
                columns.failure = last_failure.as_ref().map(json::write_failure);
            }
            State::Succeeded { attempts_used: _, claim, at, output } => {
                columns.claimed_by(claim);
                columns.moment = Some(at.as_millis());
                columns.output = match output {
                    Output::Kept(text) => Some(text.as_str().to_owned()),
                    Output::Erased => None,
                };
            }
            State::Failed { attempts_used: _, at, failure } => {
                columns.moment = Some(at.as_millis());
                columns.failure = Some(json::write_failure(failure));
            }
            State::Declined { attempts_used: _, at, by, reason } => {
                columns.moment = Some(at.as_millis());
                columns.person = Some(by.to_string());
                columns.reason = reason.clone();
            }
            State::Expired { attempts_used: _, at } => columns.moment = Some(at.as_millis()),
        }
        columns
    }
}

impl StateColumns {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            status: row.get("status")?,
            attempts: row.get("attempts")?,
            expires_at: row.get("expires_at")?,
            person: row.get("person")?,
            claim_key: row.get("claim_key")?,
            moment: row.get("moment")?,
            failure: row.get("failure")?,
            reason: row.get("reason")?,
            output: row.get("output")?,
        })
    }

    /// The state that left these columns.
    pub(super) fn state(self) -> anyhow::Result<State> {
        let attempts_used = self.attempts;
        Ok(match status(&self.status)? {
            Status::Pending => State::Pending {
                attempts_used,
                expires_at: time(self.expires_at, "expires_at")?,
                last_failure: self.failure.as_deref().map(json::read_failure).transpose()?,
            },
            Status::Executing => State::Executing {
                attempt: attempts_used,
                claim: claim(self.person, self.claim_key)?,
                since: time(self.moment, "moment")?,
                expires_at: time(self.expires_at, "expires_at")?,
                last_failure: self.failure.as_deref().map(json::read_failure).transpose()?,
            },
            Status::Succeeded => State::Succeeded {
                attempts_used,
                claim: claim(self.person, self.claim_key)?,
                at: time(self.moment, "moment")?,
                output: match self.output {
                    Some(text) => Output::Kept(JsonText::parse(text)?),
                    None => Output::Erased,
                },
            },
            Status::Failed => State::Failed {
                attempts_used,
                at: time(self.moment, "moment")?,
                failure: json::read_failure(&present(self.failure, "failure")?)?,
            },
            Status::Declined => State::Declined {
                attempts_used,
                at: time(self.moment, "moment")?,
                by: present(self.person, "person")?.parse()?,
                reason: self.reason,
            },
            Status::Expired => State::Expired { attempts_used, at: time(self.moment, "moment")? },
        })
    }

    fn claimed_by(&mut self, claim: &Claim) {
        self.person = Some(claim.by.to_string());
        self.claim_key = claim.key.as_ref().map(|key| key.to_string());
    }
}

/// The status that a column's word stands for.
pub(super) fn status(word: &str) -> anyhow::Result<Status> {
    Status::from_word(word).ok_or_else(|| anyhow::anyhow!("{word:?} is no status"))
}

fn claim(person: Option<String>, key: Option<String>) -> anyhow::Result<Claim> {
    Ok(Claim { by: present(person, "person")?.parse()?, key: key.map(|key| key.parse()).transpose()? })
}

fn time(millis: Option<i64>, column: &str) -> anyhow::Result<Timestamp> {
    present(millis, column).map(Timestamp::from_millis)
}

fn present<T>(value: Option<T>, column: &str) -> anyhow::Result<T> {
    value.ok_or_else(|| anyhow::anyhow!("its column `{column}` is empty"))
}
