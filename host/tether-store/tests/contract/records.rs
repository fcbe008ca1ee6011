//! Cases of the record: what was done once is not done again.

use std::sync::Arc;

use tether_core::port::databases::{Databases, Record, Rights, SqlError, Value};
use tokio::task::JoinSet;

use super::given::*;

type Host = Arc<dyn Databases>;

async fn records(host: &Host, number: u64) -> Vec<Record> {
    host.records(&scope("acme"), key(number)).await.unwrap()
}

pub(crate) async fn a_write_and_its_record_commit_together(host: Host) {
    assert!(records(&host, 1).await.is_empty(), "a database that was never made holds none");
    let connection = open(&host, 1).await;
    assert!(connection.lookup(None).await.unwrap().is_none());
    let mut transaction = fresh(&connection, None).await;
    let update = "UPDATE tickets SET state = $1 WHERE id = 1";
    transaction.execute(update.into(), vec![Value::Text("void".into())]).await.unwrap();
    run(&mut transaction, "UPDATE tickets SET state = 'x' WHERE id = 9").await.unwrap();
    transaction.query("SELECT * FROM tickets".into(), vec![]).await.unwrap();
    let open_state = one(&connection, "SELECT state FROM tickets WHERE id = 1").await;
    assert_eq!(open_state, Value::Text("open".into()), "what is not committed is not seen");
    let output = json("{\"b\" : 9007199254740993, \"a\":\"\\u00e9\"}");
    transaction.commit(output.clone()).await.unwrap();

    assert_eq!(one(&connection, "SELECT state FROM tickets WHERE id = 1").await, Value::Text("void".into()));
    assert_eq!(connection.lookup(None).await.unwrap(), Some(output.clone()));
    assert_eq!(not_begun(&connection, None).await.unwrap(), output.as_str());
    let found = records(&host, 1).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].output, output);
    assert_eq!((found[0].attempt, &found[0].step), (1, &None));
    assert_eq!(found[0].statements, [update], "only what changed something, without its values");
    assert!(found[0].at.as_millis() > 1_700_000_000_000);
    assert!(records(&host, 2).await.is_empty());
}

pub(crate) async fn steps_have_records_of_their_own_and_the_main_one_is_the_last(host: Host) {
    let connection = open(&host, 1).await;
    for (step, output) in [(Some("one"), "1"), (Some("two 😀"), "2"), (None, "3")] {
        fresh(&connection, step).await.commit(json(output)).await.unwrap();
    }
    assert_eq!(not_begun(&connection, Some("one")).await.unwrap(), "1");
    assert!(matches!(not_begun(&connection, Some("three")).await, Err(SqlError::Forbidden(_))));
    let steps: Vec<_> =
        records(&host, 1).await.into_iter().map(|record| record.step.map(|step| step.to_string())).collect();
    assert_eq!(steps, [Some("one".to_owned()), Some("two 😀".to_owned()), None]);
    let other = open(&host, 2).await;
    fresh(&other, Some("one")).await.commit(json("2")).await.unwrap();
}

pub(crate) async fn fifty_attempts_at_once_write_once(host: Host) {
    let mut racers = JoinSet::new();
    for number in 0..50 {
        let host = host.clone();
        racers.spawn(async move {
            let connection = open(&host, 1).await;
            match connection.begin(None).await.unwrap() {
                tether_core::port::databases::Begun::Recorded(output) => output,
                tether_core::port::databases::Begun::Fresh(mut transaction) => {
                    run(&mut transaction, "INSERT INTO tickets (state) VALUES ('new')").await.unwrap();
                    let output = json(&number.to_string());
                    transaction.commit(output.clone()).await.unwrap();
                    output
                }
            }
        });
    }
    let outputs = racers.join_all().await;
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    let connection = open(&host, 2).await;
    assert_eq!(one(&connection, "SELECT count(*) FROM tickets").await, Value::Integer(3));
}

pub(crate) async fn emptied_records_still_say_that_it_was_done(host: Host) {
    let connection = open(&host, 1).await;
    fresh(&connection, Some("one")).await.commit(json("1")).await.unwrap();
    fresh(&connection, None).await.commit(json("2")).await.unwrap();
    fresh(&open(&host, 2).await, None).await.commit(json("3")).await.unwrap();
    host.empty_records(&scope("acme"), key(1)).await.unwrap();
    host.empty_records(&scope("acme"), key(1)).await.unwrap();
    host.empty_records(&scope("nobody"), key(1)).await.unwrap();

    for step in [None, Some("one")] {
        let why = not_begun(&connection, step).await.unwrap_err();
        assert!(matches!(&why, SqlError::Forbidden(why) if why.contains("no longer kept")), "{why:?}");
    }
    assert!(matches!(connection.lookup(None).await, Err(SqlError::Forbidden(_))));
    assert_eq!(records(&host, 1).await.len(), 2);
    assert_eq!(records(&host, 2).await[0].output, json("3"));
}

pub(crate) async fn a_record_keeps_a_bounded_part_of_the_statements(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    for number in 0..150 {
        run(&mut transaction, &format!("UPDATE tickets SET state = '{number}'")).await.unwrap();
    }
    transaction.commit(json("1")).await.unwrap();
    assert_eq!(records(&host, 1).await[0].statements.len(), 100);

    let connection = open(&host, 2).await;
    let mut transaction = fresh(&connection, None).await;
    for _ in 0..5 {
        run(&mut transaction, &format!("UPDATE tickets SET state = '{}'", "x".repeat(5_000))).await.unwrap();
    }
    transaction.commit(json("1")).await.unwrap();
    assert_eq!(records(&host, 2).await[0].statements.len(), 3);
}

pub(crate) async fn records_wait_for_the_writers_turn(host: Host) {
    let connection = open(&host, 1).await;
    let transaction = fresh(&connection, None).await;
    let asked = tokio::spawn({
        let host = host.clone();
        async move { records(&host, 1).await.len() }
    });
    transaction.commit(json("1")).await.unwrap();
    assert_eq!(asked.await.unwrap(), 1);
}

pub(crate) async fn fifty_reads_then_writes_at_once_are_never_locked_out(host: Host) {
    open(&host, 0).await;
    let mut racers = JoinSet::new();
    for number in 1..=50 {
        let host = host.clone();
        racers.spawn(async move {
            let connection = open(&host, number).await;
            let mut transaction = fresh(&connection, None).await;
            let read = transaction.query("SELECT count(*) FROM tickets".into(), vec![]).await.unwrap();
            tokio::task::yield_now().await;
            let insert = "INSERT INTO tickets (id, state) VALUES (100 + $1, 'new')";
            transaction.execute(insert.into(), vec![only(read)]).await.unwrap();
            transaction.commit(json("1")).await.unwrap();
        });
    }
    racers.join_all().await;
    let connection = open_in(&host, scope("acme"), Rights::Read, 99).await.unwrap();
    assert_eq!(one(&connection, "SELECT count(*) FROM tickets").await, Value::Integer(52));
}
