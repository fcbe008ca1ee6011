//! What hosts live through: the same in every life, whatever became of it before.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Output, State, Status};
use tether_core::id::IdempotencyKey;
use tether_core::identity::Caller;
use tether_core::json::JsonText;
use tether_core::problem::Code;
use tether_gateway::{Called, Gateway, Told};

use super::camera::Remains;
use super::host::{House, operator, person};
use crate::crash::writes::Write;
use crate::support::open_read_only;

/// What is proposed, and what comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Story {
    /// A person confirms it until it is done.
    Confirm(Write),
    /// It takes two persons.
    TwoPersons,
    /// A person says no.
    Decline,
    /// Nobody decides in time.
    Expire,
    /// It was done, and its result is not kept any longer.
    Forget,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

impl Story {
    pub(super) const ALL: [Self; 9] = [
        Self::Confirm(Write::Steps),
        Self::Confirm(Write::LookFirst),
        Self::Confirm(Write::Request),
        Self::Confirm(Write::Fetch),
        Self::Confirm(Write::Endpoint),
        Self::TwoPersons,
        Self::Decline,
        Self::Expire,
        Self::Forget,
    ];

    pub(super) fn write(self) -> Write {
        match self {
            Self::Confirm(write) => write,
            Self::TwoPersons | Self::Decline | Self::Expire | Self::Forget => Write::Steps,
        }
    }

    /// How many persons it takes.
    pub(super) fn people(self) -> u32 {
        if self == Self::TwoPersons { 2 } else { 1 }
    }

    /// What happened before it, in peace.
    pub(super) fn earlier(self) -> Option<Self> {
        (self == Self::Forget).then_some(Self::Confirm(Write::Steps))
    }

    /// Lives it to its end.
    pub(super) async fn live(self, house: &House, gateway: &Arc<Gateway>, when: &str) {
        let action = self.propose(house, gateway, when).await;
        match self {
            Self::Confirm(_) => confirm(gateway, &operator(), &action, when).await,
            Self::TwoPersons => {
                approve(gateway, &action, when).await;
                let seen = gateway.action(&operator(), action.id).await.expect("it is there");
                confirm(gateway, &operator(), &seen, when).await;
            }
            Self::Decline => {
                let told = gateway.decline(&operator(), action.id, None).await.expect("it is there");
                assert_eq!(
                    (told.told, told.action.state.status()),
                    (Told::Declined, Status::Declined),
                    "{when}"
                );
            }
            Self::Expire => {
                house.clock.advance(DAY * 2);
                gateway.sweep().await.expect("it works");
                let told =
                    gateway.confirm(&operator(), action.id, key("k"), None).await.expect("it is there");
                assert_eq!(told.told, Told::Conflict(Code::ActionExpired), "{when}");
            }
            Self::Forget => {
                house.clock.advance(DAY * 31);
                gateway.sweep().await.expect("it works");
                let told = gateway.confirm(&operator(), action.id, key("k"), None).await;
                assert_eq!(told.expect_err("it is forgotten").code, Code::KeyExpired, "{when}");
            }
        }
    }

    async fn propose(self, house: &House, gateway: &Arc<Gateway>, when: &str) -> Box<Action> {
        let write = self.write();
        let arguments = JsonText::parse(write.arguments(&house.upstream)).expect("JSON");
        let called = gateway.call(&operator(), write.tool(), arguments, key("p")).await;
        match called.unwrap_or_else(|problem| panic!("{when}: {problem:?}")) {
            Called::Proposed(action) => action,
            Called::Answer(answer) => panic!("{when}: a write was answered at once: {answer:?}"),
        }
    }

    /// What the files must hold in the end, besides what holds always.
    pub(super) fn check_end(self, remains: &Remains) {
        if self == Self::Forget {
            let (data, when) = (remains.folder.path(), &remains.story);
            let count = |file: &str, sql: &str| {
                let connection = open_read_only(&data.join(file));
                connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("it can be read")
            };
            let records = |which: &str| {
                count(
                    "databases/probe/default/main.db",
                    &format!("SELECT count({which}) FROM tether_records"),
                )
            };
            assert_eq!((records("*"), records("output")), (2, 0), "{when}: records stay, and are empty");
            let texts = count(
                "actions.db",
                "SELECT count(*) FROM actions WHERE arguments <> '' OR output IS NOT NULL",
            );
            assert_eq!(texts, 0, "{when}: arguments and result are gone");
            let due = count("actions.db", "SELECT count(records_due) FROM actions");
            assert_eq!(due, 0, "{when}: nothing is left to be done");
        }
    }
}

/// The first of two says yes, each time that it is asked.
async fn approve(gateway: &Arc<Gateway>, seen: &Action, when: &str) {
    let attempts = seen.state.attempts_used();
    let told = gateway.confirm(&person("ann"), seen.id, key("a"), Some(attempts)).await.expect("it is there");
    match seen.state.status() {
        Status::Succeeded => assert_eq!(told.told, Told::Replayed, "{when}"),
        _ => assert_eq!((told.told, told.action.state.approvals().len()), (Told::Approved, 1), "{when}"),
    }
}

async fn confirm(gateway: &Arc<Gateway>, by: &Caller, seen: &Action, when: &str) {
    let attempts = seen.state.attempts_used();
    let told = gateway.confirm(by, seen.id, key("k"), Some(attempts)).await;
    let told = told.unwrap_or_else(|problem| panic!("{when}: {problem:?}"));
    let done = output(&told.action, when);
    if seen.state.status() == Status::Succeeded {
        assert_eq!((told.told, &done), (Told::Replayed, &output(seen, when)), "{when}");
    } else {
        assert_eq!(told.told, Told::Succeeded, "{when}");
    }
    // Whoever asks again is told the same.
    let again = gateway.confirm(by, seen.id, key("k"), None).await.expect("it is there");
    assert_eq!((again.told, output(&again.action, when)), (Told::Replayed, done), "{when}");
}

/// The result, to the letter.
fn output(action: &Action, when: &str) -> String {
    match &action.state {
        State::Succeeded { output: Output::Kept(output), .. } => output.as_str().to_owned(),
        other => panic!("{when}: {:?} has no result", other.status()),
    }
}

fn key(text: &str) -> Option<IdempotencyKey> {
    Some(text.parse().expect("a key"))
}
