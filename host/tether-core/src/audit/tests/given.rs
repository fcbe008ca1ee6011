//! Right histories.

use super::super::*;
use crate::action::{Approval, Arguments, Output, Preview, Proposal, Revision, Status};
use crate::clock::Timestamp;
use crate::grant::{Binding, BoundEndpoint};
use crate::identity::Actor;
use crate::ledger::{Answer, Entry, Fact, Ledger, Request};

pub(super) const AT: Timestamp = Timestamp::EPOCH;

pub(super) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(super) fn ann() -> Claim {
    Claim { by: "ann".parse().unwrap(), key: Some("k".parse().unwrap()) }
}

pub(super) fn event(from: Option<Status>, to: Status, attempt: u32, actor: &str) -> HistoryEvent {
    HistoryEvent { at: AT, actor: by(actor), from, to, attempt, detail: String::new() }
}

pub(super) fn by(user: &str) -> Option<Actor> {
    (!user.is_empty()).then(|| Actor { user: user.parse().unwrap(), channel: None })
}

pub(super) fn record(step: Option<&str>, attempt: u32) -> Record {
    Record {
        database: "main".parse().unwrap(),
        step: step.map(|step| step.parse().unwrap()),
        attempt,
        at: AT,
        output: json("1"),
        statements: vec!["INSERT".to_owned()],
    }
}

pub(super) fn committed(record: &Record) -> Entry {
    let Record { database, step, attempt, statements, .. } = record.clone();
    Entry { at: AT, attempt, fact: Fact::Committed { database, step, statements } }
}

pub(super) fn sent(attempt: u32, answer: Answer) -> Entry {
    let request = Request {
        method: "POST".parse().unwrap(),
        origin: "https://api.test".to_owned(),
        path: "/refunds".to_owned(),
        step: None,
    };
    Entry { at: AT, attempt, fact: Fact::Sent { request, answer } }
}

pub(super) fn told(attempts_used: u32, word: Word) -> Seen {
    Seen::Told { attempts_used, word }
}

pub(super) fn done(text: &str) -> Word {
    Word::Done(json(text))
}

pub(super) fn case(id: u8, state: State, history: Vec<HistoryEvent>, ledger: Vec<Entry>) -> Case {
    let id = ActionId::from_random([id; 16]);
    let proposal = Proposal {
        tenant: "acme".parse().unwrap(),
        proposer: "agent".parse().unwrap(),
        tool: "refund".parse().unwrap(),
        arguments: Arguments::Kept(JsonText::empty_object()),
        binding: Binding::Endpoint(BoundEndpoint { url: String::new(), definition: Digest::of("") }),
        preview: Preview::None,
        created_at: AT,
        max_attempts: 3,
        people: 1,
    };
    let revision = Revision(history.len() as u64);
    let action = Action { id, revision, proposal, state, ledger: Ledger::new(ledger) };
    Case { action, history, records: Ok(Vec::new()), key_names: None, seen: None }
}

/// Proposed; attempt 1 sent, committed a step and failed; attempt 2 did it, which ann
/// and then bob were told.
pub(super) fn retried() -> Case {
    use Status::{Executing, Pending, Succeeded};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "bob"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Executing, 2, "ann"),
        event(Some(Executing), Succeeded, 2, ""),
    ];
    let records = vec![record(Some("a"), 1), record(None, 2)];
    let ledger = vec![sent(1, Answer::Status(200)), committed(&records[0]), committed(&records[1])];
    let output = Output::Kept(json("1"));
    let state = State::Succeeded { attempts_used: 2, claim: ann(), at: AT, output, approvals: Vec::new() };
    let case = case(1, state, history, ledger);
    let seen = vec![
        Seen::Began { attempt: 1 },
        Seen::Arrived { attempt: 1 },
        Seen::Committed { attempt: 1, step: Some("a".parse().unwrap()) },
        Seen::Ended { attempt: 1, done: false },
        told(1, Word::Failed(Some(Effect::Applied))),
        Seen::Began { attempt: 2 },
        Seen::Committed { attempt: 2, step: None },
        Seen::Ended { attempt: 2, done: false },
        told(2, done("1")),
        told(2, Word::DoneBefore(json("1"))),
    ];
    Case { records: Ok(records), key_names: Some(case.action.id), seen: Some(seen), ..case }
}

/// Attempt 1 failed without any effect, and a person declined it then.
pub(super) fn declined() -> Case {
    use Status::{Declined, Executing, Pending};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "ann"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Declined, 1, "bob"),
    ];
    let state = State::Declined { attempts_used: 1, at: AT, by: "bob".parse().unwrap(), reason: None };
    let seen = vec![Seen::Began { attempt: 1 }, Seen::Died, told(1, Word::Failed(Some(Effect::None)))];
    Case { seen: Some(seen), ..case(2, state, history, vec![]) }
}

/// A handler without a database did it.
pub(super) fn sent_only() -> Case {
    use Status::{Executing, Pending, Succeeded};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Executing, 1, "ann"),
        event(Some(Executing), Succeeded, 1, ""),
    ];
    let (claim, output) = (Claim { key: None, ..ann() }, Output::Kept(json("2")));
    let state = State::Succeeded { attempts_used: 1, claim, at: AT, output, approvals: Vec::new() };
    let seen = vec![
        Seen::Began { attempt: 1 },
        Seen::Arrived { attempt: 1 },
        Seen::Ended { attempt: 1, done: true },
        told(1, done("2")),
    ];
    Case { seen: Some(seen), ..case(3, state, history, vec![sent(1, Answer::Status(200))]) }
}

/// An attempt that recorded what it did, and was interrupted before its end was written.
pub(super) fn interrupted() -> Case {
    use Status::{Executing, Pending};
    let history = vec![event(None, Pending, 0, "agent"), event(Some(Pending), Executing, 1, "ann")];
    let state = State::Executing {
        attempt: 1,
        claim: ann(),
        since: AT,
        expires_at: AT,
        last_failure: None,
        approvals: Vec::new(),
    };
    let case = case(4, state, history, vec![]);
    Case { records: Ok(vec![record(None, 1)]), key_names: Some(case.action.id), ..case }
}

pub(super) fn expired() -> Case {
    use Status::{Expired, Pending};
    let history = vec![event(None, Pending, 0, "agent"), event(Some(Pending), Expired, 0, "")];
    case(5, State::Expired { attempts_used: 0, at: AT }, history, vec![])
}

/// It takes two: bob and cat began attempt 1, which failed; bob and ann attempt 2.
pub(super) fn of_two() -> Case {
    use Status::{Executing, Pending};
    let history = vec![
        event(None, Pending, 0, "agent"),
        event(Some(Pending), Pending, 0, "bob"),
        event(Some(Pending), Executing, 1, "cat"),
        event(Some(Executing), Pending, 1, ""),
        event(Some(Pending), Pending, 1, "bob"),
        event(Some(Pending), Executing, 2, "ann"),
    ];
    let bob = Approval { claim: Claim { by: "bob".parse().unwrap(), key: None }, at: AT };
    let state = State::Executing {
        attempt: 2,
        claim: Claim { key: None, ..ann() },
        since: AT,
        expires_at: AT,
        last_failure: None,
        approvals: vec![bob],
    };
    let mut case = case(6, state, history, vec![]);
    case.action.proposal.people = 2;
    case
}
