//! A disk that is full in the middle of a write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tether_core::grant::{DatabaseGrant, Grants};
use tether_core::id::RequestId;
use tether_core::json::JsonText;
use tether_core::port::databases::{Begun, Rights, SqlError, Transaction, Value};

use super::*;
use crate::sqlite::test_folder::Folder;

/// Lets the file of `scope` grow by no more than `pages`.
async fn limit(databases: &SqliteDatabases, scope: &Scope, pages: i64) {
    let place = Place::of(&databases.host.data_dir, scope, &"main".parse().unwrap()).unwrap();
    let file = databases.host.files.get(&place).unwrap().unwrap();
    let mut turn = file.turn().await.unwrap();
    let connection = turn.connection(&Stop::after(file.limits().turn_time)).unwrap();
    let now: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    connection.pragma_update_and_check(None, "max_page_count", now + pages, |_| Ok(())).unwrap();
}

fn scope() -> Scope {
    Scope {
        tenant: "acme".parse().unwrap(),
        component: "tickets".parse().unwrap(),
        grants: Grants {
            databases: [("main".parse().unwrap(), DatabaseGrant::Own)].into(),
            ..Grants::default()
        },
        migrations: Arc::new([]),
    }
}

/// A disk that is full as long as the test says so, for whoever tries it out.
fn on_a_disk(folder: &Folder, full: &Arc<AtomicBool>) -> SqliteDatabases {
    let full = full.clone();
    let room = Room::new(move |_| match full.load(Ordering::SeqCst) {
        true => Err(std::io::ErrorKind::StorageFull.into()),
        false => Ok(()),
    });
    SqliteDatabases::with_room(folder.path(""), SqlLimits::default(), room)
}

fn work() -> Work {
    let key = RequestId::from_random([7; 16]);
    Work { rights: Rights::Write, key, attempt: 1, time: Duration::from_secs(60) }
}

async fn begin(databases: &SqliteDatabases, scope: &Scope) -> Box<dyn Transaction> {
    let session = databases.session(scope.clone(), work());
    match session.open("main".parse().unwrap()).await.unwrap().begin(None).await.unwrap() {
        Begun::Fresh(transaction) => transaction,
        Begun::Recorded(_) => panic!("nothing was committed"),
    }
}

#[tokio::test]
async fn a_disk_that_was_found_full_is_tried_out_before_the_next_attempt() {
    let (folder, full) = (Folder::new(), Arc::new(AtomicBool::new(true)));
    let (databases, scope) = (on_a_disk(&folder, &full), scope());
    let other = Scope { tenant: "umbrella".parse().unwrap(), ..scope.clone() };
    assert_eq!(databases.fit(&scope).await.unwrap(), Ok(()), "nobody found it full");
    drop(begin(&databases, &scope).await);

    limit(&databases, &scope, 4).await;
    let mut transaction = begin(&databases, &scope).await;
    transaction.execute("CREATE TABLE t (a)".into(), vec![]).await.unwrap();
    let huge = vec![Value::Blob(vec![7; 100_000])];
    let inserted = transaction.execute("INSERT INTO t VALUES ($1)".into(), huge).await;
    assert_eq!(inserted, Err(SqlError::StorageFull));
    drop(transaction);
    for _ in 0..2 {
        let refused = databases.fit(&scope).await;
        let named = matches!(&refused, Err(NotNow::StorageFull { database }) if database.as_str() == "main");
        assert!(named, "{refused:?}");
    }
    assert_eq!(databases.fit(&other).await.unwrap(), Ok(()), "another file is another matter");

    full.store(false, Ordering::SeqCst);
    assert_eq!(databases.fit(&scope).await.unwrap(), Ok(()));
    full.store(true, Ordering::SeqCst);
    assert_eq!(databases.fit(&scope).await.unwrap(), Ok(()), "it was forgotten");
}

#[tokio::test]
async fn a_full_disk_undoes_the_transaction_and_the_next_one_works_once_there_is_room() {
    let folder = Folder::new();
    let databases = SqliteDatabases::new(folder.path(""), SqlLimits::default());
    let scope = scope();
    let key = RequestId::from_random([7; 16]);
    let open = async || {
        let session = databases.session(scope.clone(), work());
        session.open("main".parse().unwrap()).await.unwrap()
    };
    let huge = || vec![Value::Blob(vec![7; 100_000])];
    let output = || JsonText::parse("1").unwrap();

    drop(begin(&databases, &scope).await);
    limit(&databases, &scope, 4).await;
    let mut transaction = begin(&databases, &scope).await;
    transaction.execute("CREATE TABLE t (a)".into(), vec![]).await.unwrap();
    let insert = || "INSERT INTO t VALUES ($1)".to_owned();
    assert_eq!(transaction.execute(insert(), huge()).await, Err(SqlError::StorageFull));
    let more = transaction.execute("INSERT INTO t VALUES (1)".into(), vec![]).await;
    assert_eq!(more, Err(SqlError::StorageFull), "it has ended");
    assert_eq!(transaction.commit(output()).await, Err(SqlError::StorageFull));
    assert!(databases.records(&scope, key).await.unwrap().is_empty());
    let tables = open().await.query("SELECT name FROM sqlite_master WHERE name = 't'".into(), vec![]).await;
    assert!(tables.unwrap().rows.is_empty());

    limit(&databases, &scope, 1_000).await;
    let mut transaction = begin(&databases, &scope).await;
    transaction.execute("CREATE TABLE t (a)".into(), vec![]).await.unwrap();
    assert_eq!(transaction.execute(insert(), huge()).await, Ok(1));
    transaction.commit(output()).await.unwrap();
    assert_eq!(databases.records(&scope, key).await.unwrap().len(), 1);
}
