//! Values that the cases start from.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tether_core::action::{Action, Arguments, Claim, Preview, Proposal, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::grant::{Binding, BoundComponent, DatabaseGrant, Grants};
use tether_core::id::{ActionId, RequestId, StepName};
use tether_core::identity::{Actor, Channel};
use tether_core::json::JsonText;
use tether_core::ledger::Ledger;
use tether_core::port::actions::{Change, NewAction};
use tether_core::port::databases::{
    Begun, Connection, Databases, Rights, RowSet, Scope, SqlError, Transaction, Value, Work,
};
use tether_core::tool::Migration;

/// The moment at which every case begins.
pub(crate) const NOON: Timestamp = Timestamp::EPOCH;

/// `millis` after [`NOON`].
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// The id with this number.
pub(crate) fn id(number: u64) -> ActionId {
    format!("{number:032x}").parse().unwrap()
}

/// The key with this number.
pub(crate) fn key(number: u64) -> RequestId {
    id(number).into()
}

/// A proposal of `agent` in `acme`, without a key.
pub(crate) fn new_action(number: u64) -> NewAction {
    NewAction {
        id: id(number),
        proposal: Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(json("{\"ticket\": 7}")),
            binding: bound(Digest::of("bytes")),
            preview: Preview::None,
            created_at: NOON,
            max_attempts: 3,
            people: 1,
        },
        expires_at: at(1_000),
        key: None,
        channel: Some(Channel::Api),
        max_open: None,
    }
}

/// Bound to the version `digest` of `tickets`, with `main` of its own.
pub(crate) fn bound(digest: Digest) -> Binding {
    Binding::Component(BoundComponent { component: "tickets".parse().unwrap(), digest, grants: main_only() })
}

fn main_only() -> Grants {
    let databases = BTreeMap::from([("main".parse().unwrap(), DatabaseGrant::Own)]);
    Grants { databases, ..Grants::default() }
}

/// A claim by `ann`.
pub(crate) fn claim(key: Option<&str>) -> Claim {
    Claim { by: "ann".parse().unwrap(), key: key.map(|key| key.parse().unwrap()) }
}

/// The state of the first attempt.
pub(crate) fn executing(key: Option<&str>) -> State {
    State::Executing {
        attempt: 1,
        claim: claim(key),
        since: at(5),
        expires_at: at(1_000),
        last_failure: None,
        approvals: Vec::new(),
    }
}

/// The move of `action` to `state`.
pub(crate) fn change(action: &Action, state: State) -> Change {
    Change {
        seen: action.clone(),
        state,
        ledger: Ledger::default(),
        actor: Some(Actor { user: "ann".parse().unwrap(), channel: Some(Channel::Inbox) }),
        at: at(5),
        detail: "Moved.".into(),
    }
}

/// JSON from its text.
pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

/// The migration `id` of `main`.
pub(crate) fn migration(id: &str, sql: &str) -> Migration {
    Migration { database: "main".parse().unwrap(), id: id.to_owned(), sql: sql.to_owned() }
}

/// The scope of `tickets` for `tenant`: `main` of its own, with one table.
pub(crate) fn scope(tenant: &str) -> Scope {
    Scope {
        tenant: tenant.parse().unwrap(),
        component: "tickets".parse().unwrap(),
        grants: main_only(),
        migrations: Arc::new([migration(
            "001",
            "CREATE TABLE tickets (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
             INSERT INTO tickets VALUES (1, 'open'), (2, 'open');",
        )]),
    }
}

/// `main` of that scope, opened for a write under key `number`.
pub(crate) async fn open(databases: &Arc<dyn Databases>, number: u64) -> Arc<dyn Connection> {
    open_in(databases, scope("acme"), Rights::Write, number).await.unwrap()
}

/// The first attempt of call `number`, which may take a minute.
pub(crate) fn work(rights: Rights, number: u64) -> Work {
    Work { rights, key: key(number), attempt: 1, time: Duration::from_secs(60) }
}

/// `main` of `scope`.
pub(crate) async fn open_in(
    databases: &Arc<dyn Databases>,
    scope: Scope,
    rights: Rights,
    number: u64,
) -> Result<Arc<dyn Connection>, SqlError> {
    databases.session(scope, work(rights, number)).open("main".parse().unwrap()).await
}

/// The transaction of a step that was not done yet.
pub(crate) async fn fresh(connection: &Arc<dyn Connection>, step: Option<&str>) -> Box<dyn Transaction> {
    match connection.begin(step.map(|step| step.parse::<StepName>().unwrap())).await.unwrap() {
        Begun::Fresh(transaction) => transaction,
        Begun::Recorded(_) => panic!("it was recorded before"),
    }
}

/// What a begin answers that starts nothing.
pub(crate) async fn not_begun(
    connection: &Arc<dyn Connection>,
    step: Option<&str>,
) -> Result<String, SqlError> {
    match connection.begin(step.map(|step| step.parse::<StepName>().unwrap())).await? {
        Begun::Recorded(output) => Ok(output.as_str().to_owned()),
        Begun::Fresh(_) => panic!("it was not recorded"),
    }
}

/// Runs a statement without parameters.
pub(crate) async fn run(transaction: &mut Box<dyn Transaction>, sql: &str) -> Result<u64, SqlError> {
    transaction.execute(sql.to_owned(), vec![]).await
}

/// The one value that a query without parameters finds.
pub(crate) async fn one(connection: &Arc<dyn Connection>, sql: &str) -> Value {
    only(connection.query(sql.to_owned(), vec![]).await.unwrap())
}

/// The one value of an answer.
pub(crate) fn only(mut found: RowSet) -> Value {
    assert_eq!((found.rows.len(), found.columns.len()), (1, 1));
    found.rows.remove(0).remove(0)
}

/// Polls `future` up to `polls` times, as often as it asks for it, then drops it in
/// the middle. None if it was not done by then.
pub(crate) async fn dropped_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut polled = 0;
    std::future::poll_fn(move |context| {
        polled += 1;
        match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if polled >= polls => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
