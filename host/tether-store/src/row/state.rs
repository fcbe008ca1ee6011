//! The columns of a state. Which of them a state uses is known here only.

use rusqlite::{Connection, OptionalExtension as _, Row};
use tether_core::action::{Claim, Output, Revision, State, Status};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::id::{ActionId, TenantId};
use tether_core::json::JsonText;

use super::{Columns, Fault, json};

/// What [`StateColumns::read`] reads, in this order.
pub(super) const COLUMNS: &str = "status, attempts, expires_at, person, claim_key, moment, failure, reason, approvals, \
     output, output_digest, arguments_digest IS NOT NULL AS arguments_erased";

/// What a state leaves in its row; a column that it does not use is NULL.
pub(super) struct StateColumns {
    pub(super) status: String,
    /// As they may be there: what is no count is found, too.
    pub(super) attempts: i64,
    pub(super) expires_at: Option<i64>,
    pub(super) person: Option<String>,
    pub(super) claim_key: Option<String>,
    pub(super) moment: Option<i64>,
    pub(super) failure: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) approvals: Option<String>,
    pub(super) output: Option<String>,
    output_digest: Option<String>,
    /// Whether the arguments are; no state knows that.
    arguments_erased: bool,
}

impl From<&State> for StateColumns {
    fn from(state: &State) -> Self {
        let mut columns = Self {
            status: state.status().as_str().to_owned(),
            attempts: state.attempts_used().into(),
            expires_at: None,
            person: None,
            claim_key: None,
            moment: None,
            failure: None,
            reason: None,
            approvals: json::write_approvals(state.approvals()),
            output: None,
            output_digest: None,
            arguments_erased: false,
        };
        match state {
            State::Pending { attempts_used: _, expires_at, last_failure, approvals: _ } => {
                columns.expires_at = Some(expires_at.as_millis());
                columns.failure = last_failure.as_ref().map(json::write_failure);
            }
            State::Executing { attempt: _, claim, since, expires_at, last_failure, approvals: _ } => {
                columns.claimed_by(claim);
                columns.moment = Some(since.as_millis());
                columns.expires_at = Some(expires_at.as_millis());
                columns.failure = last_failure.as_ref().map(json::write_failure);
            }
            State::Succeeded { attempts_used: _, claim, at, output, approvals: _ } => {
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
    pub(super) fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            status: columns.next()?,
            attempts: columns.next()?,
            expires_at: columns.next()?,
            person: columns.next()?,
            claim_key: columns.next()?,
            moment: columns.next()?,
            failure: columns.next()?,
            reason: columns.next()?,
            approvals: columns.next()?,
            output: columns.next()?,
            output_digest: columns.next()?,
            arguments_erased: columns.next()?,
        })
    }

    /// The state that left these columns.
    pub(super) fn state(self) -> anyhow::Result<State> {
        let attempts_used = self.attempts.try_into()?;
        let approvals = self.approvals.as_deref().map(json::read_approvals).transpose()?.unwrap_or_default();
        Ok(match status(&self.status)? {
            Status::Pending => State::Pending {
                attempts_used,
                expires_at: time(self.expires_at, "expires_at")?,
                last_failure: self.failure.as_deref().map(json::read_failure).transpose()?,
                approvals,
            },
            Status::Executing => State::Executing {
                attempt: attempts_used,
                claim: claim(self.person, self.claim_key)?,
                since: time(self.moment, "moment")?,
                expires_at: time(self.expires_at, "expires_at")?,
                last_failure: self.failure.as_deref().map(json::read_failure).transpose()?,
                approvals,
            },
            Status::Succeeded => State::Succeeded {
                attempts_used,
                claim: claim(self.person, self.claim_key)?,
                at: time(self.moment, "moment")?,
                output: match self.output {
                    Some(text) => Output::Kept(JsonText::parse(text)?),
                    None => Output::Erased,
                },
                approvals,
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

    /// The digest of everything here, and of `ledger`. While an attempt executes, it notes
    /// in the ledger what it sends, without an event: that is left out, and what the ledger
    /// tells of other attempts is not. What was erased is told from what is kept, so that a
    /// text cannot vanish, nor one come back, without an event. No name holds a line break,
    /// and what may is there as its digest.
    pub(super) fn digest(&self, ledger: &str) -> Digest {
        let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
        let text = |text: &Option<String>| {
            text.as_ref().map(|text| Digest::of(text).to_string()).unwrap_or_default()
        };
        let output = match (&self.output, &self.output_digest) {
            (Some(kept), None) => format!("kept {}", Digest::of(kept)),
            (None, Some(digest)) => format!("erased {digest}"),
            // Nobody writes both.
            (Some(kept), Some(digest)) => format!("kept {} beside {digest}", Digest::of(kept)),
            (None, None) => String::new(),
        };
        let ledger = match self.status.as_str() == Status::Executing.as_str() {
            true => text(&json::without_attempt(ledger, self.attempts)),
            false => Digest::of(ledger).to_string(),
        };
        let Self { status, attempts, arguments_erased, .. } = self;
        let (expires_at, moment) = (number(self.expires_at), number(self.moment));
        let person = self.person.as_deref().unwrap_or_default();
        let key = self.claim_key.as_deref().unwrap_or_default();
        let (failure, reason, approvals) = (text(&self.failure), text(&self.reason), text(&self.approvals));
        Digest::of(format!(
            "{status}\n{attempts}\n{expires_at}\n{person}\n{key}\n{moment}\n{failure}\n{reason}\n{approvals}\n\
             {output}\n{arguments_erased}\n{ledger}"
        ))
    }

    fn claimed_by(&mut self, claim: &Claim) {
        self.person = Some(claim.by.to_string());
        self.claim_key = claim.key.as_ref().map(|key| key.to_string());
    }
}

/// How an action's row stands.
pub(crate) struct Standing {
    pub(crate) number: i64,
    pub(crate) revision: Revision,
    /// See [`StateColumns::digest`].
    pub(crate) state: Digest,
}

/// How the row of an action stands.
pub(crate) fn standing(
    connection: &Connection,
    tenant: &TenantId,
    id: ActionId,
) -> Result<Option<Standing>, Fault> {
    let sql = format!("SELECT number, revision, ledger, {COLUMNS} FROM actions WHERE id = ? AND tenant = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((id.to_string(), tenant.as_str()), read_standing).optional()?)
}

/// The same of row `number`.
pub(crate) fn standing_of(connection: &Connection, number: i64) -> Result<Option<Standing>, Fault> {
    let sql = format!("SELECT number, revision, ledger, {COLUMNS} FROM actions WHERE number = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([number], read_standing).optional()?)
}

fn read_standing(row: &Row<'_>) -> rusqlite::Result<Standing> {
    Ok(Standing {
        number: row.get("number")?,
        revision: Revision(row.get::<_, i64>("revision")?.cast_unsigned()),
        state: StateColumns::read(&mut Columns::from(row, 3))?.digest(row.get_ref("ledger")?.as_str()?),
    })
}

/// Erases the output in row `number`; its digest stays. Its records are due from `due` on.
pub(crate) fn erase_output(connection: &Connection, number: i64, due: Option<i64>) -> Result<(), Fault> {
    let output: Option<String> = connection
        .prepare_cached("SELECT output FROM actions WHERE number = ?")?
        .query_row([number], |row| row.get(0))?;
    let digest = output.map(|output| Digest::of(output).to_string());
    connection
        .prepare_cached(
            "UPDATE actions SET output = NULL, output_digest = ?, records_due = ?, revision = revision + 1
             WHERE number = ?",
        )?
        .execute((digest, due, number))?;
    Ok(())
}

/// From when on the records of the action in row `number` are to be emptied, if they are.
/// No digest covers it: it moves without an event while a database is away.
pub(crate) fn records_due(connection: &Connection, number: i64) -> Result<Option<Timestamp>, Fault> {
    let due: Option<i64> = connection
        .prepare_cached("SELECT records_due FROM actions WHERE number = ?")?
        .query_row([number], |row| row.get(0))?;
    Ok(due.map(Timestamp::from_millis))
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
