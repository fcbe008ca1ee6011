//! Whether the records of an action whose result was erased are emptied, or will be. When
//! that is due moves without an event, while a database is away: no digest covers it, and
//! what it may be follows from everything else.

use std::time::Duration;

use tether_core::action::{Action, Output, State};
use tether_core::clock::Timestamp;
use tether_core::port::databases::{Record, Unreachable};

/// The gateway comes back after an hour; its clock may have been set back since.
const LATEST: Duration = Duration::from_secs(24 * 3600);

/// What is wrong with when the records of `action` are `due`, if something is.
pub(super) fn wrong(
    action: &Action,
    due: Option<Timestamp>,
    records: &Result<Vec<Record>, Unreachable>,
    now: Timestamp,
) -> Option<&'static str> {
    let erased = matches!(action.state, State::Succeeded { output: Output::Erased, .. });
    let hold_something =
        |records: &Vec<Record>| records.iter().any(|record| record.output.as_str() != "null");
    match due {
        Some(_) if !erased => Some("its records are to be emptied, and no result of it was erased"),
        Some(due) if due > now.after(LATEST) => Some("its records are to be emptied only after days"),
        None if erased && records.as_ref().is_ok_and(hold_something) => {
            Some("its result was erased, and its records hold it, and are not to be emptied")
        }
        _ => None,
    }
}
