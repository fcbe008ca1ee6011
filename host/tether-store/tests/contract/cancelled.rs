//! F16, F17: calls that are given up in the middle, while others write.
//!
//! Each call of an attempt is dropped after no poll, after one, after two, until it is done
//! by then: at once, or some turns of the runtime later, in which its thread goes on.
//! Whoever comes next finds no open transaction and no lock, and the row is there exactly
//! if its record is.
//!
//! With every test some rounds. At full length, or so many rounds of each:
//!
//! ```text
//! TETHER_LOAD=full cargo test -p tether-store --test sqlite given_up
//! TETHER_LOAD=20 cargo test -p tether-store --test sqlite given_up
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tether_core::port::databases::{Databases, Rights, SqlError, Transaction, Value};
use tokio::task::JoinSet;

use super::given::*;

type Host = Arc<dyn Databases>;

/// Asks the file of `acme` for a number, past the host.
pub(crate) type Outside = Box<dyn Fn(&str) -> i64 + Send + Sync>;

/// Turns of the runtime until what is given up is dropped, round after round.
const LATER: [usize; 6] = [0, 1, 4, 16, 64, 256];

/// Rounds at full length.
const FULL: usize = 100;

/// Writers beside.
const OTHERS: u64 = 2;

/// The turns of the runtime of each round.
fn rounds() -> impl Iterator<Item = usize> {
    let rounds = match std::env::var("TETHER_LOAD").as_deref() {
        Err(_) => LATER.len(),
        Ok("full") => FULL,
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("TETHER_LOAD is `full` or a number, not {text:?}"))
        }
    };
    LATER.into_iter().cycle().take(rounds)
}

/// A call of an attempt, in the order in which it makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Open,
    Query,
    Lookup,
    Begin,
    Execute,
    Select,
    Commit,
    Records,
}

const CALLS: [Call; 8] = [
    Call::Open,
    Call::Query,
    Call::Lookup,
    Call::Begin,
    Call::Execute,
    Call::Select,
    Call::Commit,
    Call::Records,
];

/// Where an attempt is given up.
#[derive(Debug, Clone, Copy)]
struct Cut {
    call: Call,
    polls: usize,
    turns: usize,
}

impl Cut {
    /// The answer; none where it is this call that is given up, and it was not done by then.
    async fn at<T>(self, call: Call, future: impl Future<Output = T>) -> Option<T> {
        if call != self.call {
            return Some(future.await);
        }
        let mut future = Box::pin(future);
        if self.polls > 0
            && let Some(answer) = dropped_after(self.polls, future.as_mut()).await
        {
            return Some(answer);
        }
        for _ in 0..self.turns {
            tokio::task::yield_now().await;
        }
        None
    }

    /// Whether the attempt has committed, if it was given up there.
    fn is_committed(self) -> bool {
        self.call > Call::Commit || self.call == Call::Commit && self.polls > 0
    }
}

/// One attempt, with a row that names its number; none where it was given up. A transaction
/// of which a call was given up stays in `hands`: it ends all the same.
async fn attempt(host: &Host, number: u64, cut: Cut, hands: &mut Option<Box<dyn Transaction>>) -> Option<()> {
    let session = host.session(scope("acme"), work(Rights::Write, number));
    let connection = cut.at(Call::Open, session.open("main".parse().unwrap())).await?.unwrap();
    let count = || "SELECT count(*) FROM tickets".to_owned();
    cut.at(Call::Query, connection.query(count(), vec![])).await?.unwrap();
    assert_eq!(cut.at(Call::Lookup, connection.lookup(None)).await?, Ok(None));
    let transaction = hands.insert(cut.at(Call::Begin, fresh(&connection, None)).await?);
    cut.at(Call::Execute, add_row(transaction, number)).await?.unwrap();
    cut.at(Call::Select, transaction.query(count(), vec![])).await?.unwrap();
    let transaction = hands.take().expect("it was put there");
    cut.at(Call::Commit, transaction.commit(json("1"))).await?.unwrap();
    cut.at(Call::Records, host.records(&scope("acme"), key(number))).await?.unwrap();
    Some(())
}

async fn add_row(transaction: &mut Box<dyn Transaction>, number: u64) -> Result<u64, SqlError> {
    let insert = "INSERT INTO tickets (state) VALUES ($1)".to_owned();
    transaction.execute(insert, vec![Value::Text(number.to_string())]).await
}

/// How many rows an attempt has left.
fn rows_of(number: u64) -> String {
    format!("SELECT count(*) FROM tickets WHERE state = '{number}'")
}

/// Writes a row of its own, as anybody would.
async fn write(host: &Host, number: u64) {
    let mut transaction = fresh(&open(host, number).await, None).await;
    add_row(&mut transaction, number).await.unwrap();
    transaction.commit(json("1")).await.unwrap();
}

/// Writers who go on beside, until they are told to stop.
struct Others {
    stop: Arc<AtomicBool>,
    writers: JoinSet<u64>,
}

impl Others {
    fn begin(host: &Host) -> Self {
        let (stop, mut writers) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for writer in 1..=OTHERS {
            let (host, stop) = (host.clone(), stop.clone());
            writers.spawn(async move {
                let mut written = 0;
                while !stop.load(Ordering::Relaxed) {
                    write(&host, writer << 32 | written).await;
                    written += 1;
                }
                written
            });
        }
        Self { stop, writers }
    }

    /// None of them was ever refused, and each row of theirs is there.
    async fn end(self, host: &Host) {
        self.stop.store(true, Ordering::Relaxed);
        let written: u64 = self.writers.join_all().await.into_iter().sum();
        let connection = open(host, 0).await;
        let rows = "SELECT count(*) FROM tickets WHERE CAST(state AS INTEGER) >= 1 << 32";
        assert_eq!(one(&connection, rows).await, Value::Integer(i64::try_from(written).unwrap()));
        assert!(written > 0, "there was nobody else");
    }
}

pub(crate) async fn a_call_given_up_among_writers_leaves_nothing_behind(host: Host) {
    open(&host, 0).await;
    let (others, mut number) = (Others::begin(&host), 0);
    for turns in rounds() {
        for call in CALLS {
            for polls in 0.. {
                number += 2;
                let (cut, mut hands) = (Cut { call, polls, turns }, None);
                let done = attempt(&host, number, cut, &mut hands).await.is_some();
                // A call that was never polled has not begun.
                hands = hands.filter(|_| polls > 0);
                check_clean(&host, number, cut, done || cut.is_committed()).await;
                if let Some(mut transaction) = hands {
                    let late = add_row(&mut transaction, number).await;
                    assert!(matches!(late, Err(SqlError::Other(_))), "{cut:?}: {late:?}");
                }
                if done {
                    break;
                }
            }
        }
    }
    others.end(&host).await;
}

/// The next who has the writer's turn finds the row and the record of `number`, or neither.
async fn check_clean(host: &Host, number: u64, cut: Cut, committed: bool) {
    let connection = open(host, number + 1).await;
    let mut transaction = fresh(&connection, None).await;
    let found = transaction.query(rows_of(number), vec![]).await.unwrap();
    assert_eq!(only(found), Value::Integer(committed.into()), "{cut:?}");
    add_row(&mut transaction, number + 1).await.unwrap();
    transaction.commit(json("1")).await.unwrap();
    let records = host.records(&scope("acme"), key(number)).await.unwrap();
    assert_eq!(records.len(), usize::from(committed), "{cut:?}");
    assert_eq!(one(&connection, &rows_of(number)).await, Value::Integer(committed.into()), "{cut:?}");
}

pub(crate) async fn an_opening_given_up_leaves_nothing_half_made(host: Host) {
    let mut tenants = 0;
    for turns in rounds() {
        for polls in 0.. {
            tenants += 1;
            // A database that was never opened: made, owned and migrated by whoever is first.
            let scope = scope(&format!("tenant-{tenants}"));
            let cut = Cut { call: Call::Open, polls, turns };
            let given_up = cut.at(Call::Open, open_in(&host, scope.clone(), Rights::Write, 1));
            let beside = async {
                let connection = open_in(&host, scope.clone(), Rights::Write, 2).await.unwrap();
                let mut transaction = fresh(&connection, None).await;
                add_row(&mut transaction, 2).await.unwrap();
                transaction.commit(json("1")).await.unwrap();
            };
            let (opened, ()) = tokio::join!(given_up, beside);
            let connection = open_in(&host, scope.clone(), Rights::Write, 3).await.unwrap();
            let all = one(&connection, "SELECT count(*) FROM tickets").await;
            assert_eq!(all, Value::Integer(3), "{cut:?}: two by the migration, one by a writer");
            drop(fresh(&connection, None).await);
            if let Some(opened) = opened {
                opened.unwrap();
                break;
            }
        }
    }
}

pub(crate) async fn a_commit_given_up_is_in_the_records_as_it_is_in_the_file(
    (host, outside): (Host, Outside),
) {
    open(&host, 0).await;
    let (others, mut number, mut said) = (Others::begin(&host), 0, Vec::new());
    let in_file = |number: u64| {
        let records = format!("SELECT count(*) FROM tether_records WHERE key = '{}'", key(number));
        (outside(&rows_of(number)), outside(&records))
    };
    for turns in rounds() {
        for polls in 0.. {
            number += 1;
            let cut = Cut { call: Call::Commit, polls, turns };
            let done = attempt(&host, number, cut, &mut None).await.is_some();
            let records = host.records(&scope("acme"), key(number)).await.unwrap().len();
            let records = i64::try_from(records).unwrap();
            assert_eq!(in_file(number), (records, records), "{cut:?}");
            said.push((number, records));
            if done {
                assert_eq!(records, 1, "{cut:?}");
                break;
            }
        }
    }
    others.end(&host).await;
    drop(host);
    for (number, records) in said {
        assert_eq!(in_file(number), (records, records), "what was said once stays so");
    }
}
