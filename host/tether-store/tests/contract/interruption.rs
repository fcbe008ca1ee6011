//! Calls that are dropped, run out of time, or end their own transaction.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tether_core::port::databases::{Begun, Databases, Rights, SqlError, Value, Work};

use super::given::*;

type Host = Arc<dyn Databases>;

/// Never comes to an end by itself.
const ENDLESS: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

const VOID: &str = "UPDATE tickets SET state = 'void'";

/// Nothing is left of what was undone, and the next writer works.
async fn assert_clean(host: &Host, number: u64) {
    let connection = open(host, number).await;
    let mut transaction = fresh(&connection, Some("probe")).await;
    let open = transaction.query("SELECT DISTINCT state FROM tickets".into(), vec![]).await.unwrap();
    assert_eq!(only(open), Value::Text("open".into()));
    assert_eq!(run(&mut transaction, VOID).await, Ok(2));
}

pub(crate) async fn a_dropped_transaction_is_undone(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, VOID).await.unwrap();
    drop(transaction);
    assert_clean(&host, 2).await;
    assert!(host.records(&scope("acme"), key(1)).await.unwrap().is_empty());
}

pub(crate) async fn whatever_await_is_dropped_the_next_one_is_clean(host: Host) {
    open(&host, 0).await;
    for polls in 1.. {
        // Begin, write, read: dropped in the middle of each in turn.
        let all = async {
            let connection = open(&host, 1).await;
            let mut transaction = fresh(&connection, None).await;
            run(&mut transaction, VOID).await.unwrap();
            transaction.query("SELECT * FROM tickets".into(), vec![]).await.unwrap();
        };
        let done = dropped_after(polls, all).await.is_some();
        assert_clean(&host, 2).await;
        if done {
            return;
        }
    }
}

pub(crate) async fn a_statement_ends_with_its_attempt_and_the_transaction_with_it(host: Host) {
    // Made and migrated by somebody else: that takes as long as the disk wants.
    open(&host, 3).await;
    let attempt = Work { time: Duration::from_secs(5), ..work(Rights::Write, 1) };
    let session = host.session(scope("acme"), attempt);
    let mut transaction = fresh(&session.open("main".parse().unwrap()).await.unwrap(), None).await;
    run(&mut transaction, VOID).await.unwrap();
    let own_clock = tokio::time::timeout(Duration::from_millis(100), run(&mut transaction, ENDLESS));
    assert!(own_clock.await.is_err(), "the attempt's own clock speaks first");
    assert!(run(&mut transaction, VOID).await.is_err());
    assert!(transaction.commit(json("1")).await.is_err());
    assert_clean(&host, 2).await;
    assert!(host.records(&scope("acme"), key(1)).await.unwrap().is_empty());
}

pub(crate) async fn a_commit_runs_to_its_end_once_it_began(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, VOID).await.unwrap();
    assert!(dropped_after(1, transaction.commit(json("1"))).await.is_none_or(|done| done.is_ok()));
    assert_eq!(host.records(&scope("acme"), key(1)).await.unwrap().len(), 1);
    assert_eq!(one(&connection, "SELECT DISTINCT state FROM tickets").await, Value::Text("void".into()));

    let connection = open(&host, 2).await;
    drop(fresh(&connection, None).await.commit(json("1")));
    assert!(host.records(&scope("acme"), key(2)).await.unwrap().is_empty(), "it was never polled");
}

/// `host` allows a transaction 1 s, and a turn more.
pub(crate) async fn a_transaction_that_stays_open_is_undone_and_gives_its_turn_back(host: Host) {
    let connection = open(&host, 1).await;
    let mut idle = fresh(&connection, None).await;
    run(&mut idle, VOID).await.unwrap();
    assert_clean(&host, 2).await;
    assert!(matches!(run(&mut idle, VOID).await, Err(SqlError::Other(why)) if why.contains("too long")));
    assert!(idle.commit(json("1")).await.is_err());

    let mut busy = fresh(&open(&host, 3).await, None).await;
    let began = Instant::now();
    assert!(run(&mut busy, ENDLESS).await.is_err());
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_clean(&host, 4).await;
    assert!(busy.commit(json("1")).await.is_err());
}

/// `host` allows a turn 500 ms, and a transaction more.
pub(crate) async fn a_turn_that_does_not_come_is_busy(host: Host) {
    let connection = open(&host, 1).await;
    let holder = fresh(&connection, None).await;
    let other = open(&host, 2).await;
    assert!(matches!(other.begin(None).await, Err(SqlError::Busy)));
    assert!(host.records(&scope("acme"), key(1)).await.is_err(), "nothing is known while it is open");
    assert_eq!(one(&other, "SELECT count(*) FROM tickets").await, Value::Integer(2), "reads do not wait");
    drop(holder);
    assert!(matches!(other.begin(None).await, Ok(Begun::Fresh(_))));
}

/// `host` allows a read 1 s.
pub(crate) async fn a_read_ends_in_time(host: Host) {
    let connection = open(&host, 1).await;
    let began = Instant::now();
    assert!(matches!(connection.query(ENDLESS.into(), vec![]).await, Err(SqlError::Other(_))));
    assert!(began.elapsed() < Duration::from_secs(5));
    // Dropped ones do not use up what others read with.
    for _ in 0..30 {
        assert!(dropped_after(1, connection.query(ENDLESS.into(), vec![])).await.is_none());
    }
    assert_eq!(one(&connection, "SELECT count(*) FROM tickets").await, Value::Integer(2));
}

pub(crate) async fn a_statement_that_ends_the_transaction_ends_all_of_it(host: Host) {
    let endings = [
        "INSERT OR ROLLBACK INTO tickets VALUES (1, 'again')",
        "UPDATE OR ROLLBACK tickets SET id = 1",
        "INSERT INTO bomb VALUES (1)",
    ];
    let connection = open(&host, 100).await;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, "CREATE TABLE bomb (a)").await.unwrap();
    let trigger = "CREATE TRIGGER goes_off BEFORE INSERT ON bomb BEGIN SELECT RAISE (ROLLBACK, 'boom'); END";
    run(&mut transaction, trigger).await.unwrap();
    transaction.commit(json("1")).await.unwrap();

    for (number, ending) in (1..).zip(endings) {
        let connection = open(&host, number).await;
        let mut transaction = fresh(&connection, None).await;
        run(&mut transaction, VOID).await.unwrap();
        let result = run(&mut transaction, ending).await;
        assert!(matches!(result, Err(SqlError::Constraint(_))), "{ending}: {result:?}");
        for sql in [VOID, "SELECT 1"] {
            let result = run(&mut transaction, sql).await;
            assert!(matches!(result, Err(SqlError::Other(_))), "{sql} after {ending}: {result:?}");
        }
        assert!(transaction.commit(json("1")).await.is_err());
        assert!(host.records(&scope("acme"), key(number)).await.unwrap().is_empty());
        assert_clean(&host, 50).await;
    }
}
