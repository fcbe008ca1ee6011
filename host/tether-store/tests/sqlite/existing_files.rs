//! Files that Tether did not make: whose they are, and what is never done to them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tether_core::grant::DatabaseGrant;
use tether_core::port::databases::{Databases, Rights, Scope, SqlError, SqlLimits, Value};
use tether_store::SqliteDatabases;

use crate::contract::given::*;
use crate::folder::Folder;
use crate::{databases, roomy};

/// A file as somebody else made it, with a rollback journal.
fn make(path: &Path) {
    let file = Connection::open(path).unwrap();
    file.execute_batch(
        "CREATE TABLE tickets (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO tickets VALUES (1, 'open')",
    )
    .unwrap();
}

fn granted(tenant: &str, path: &Path, shared: bool) -> Scope {
    let grant = DatabaseGrant::Sqlite { path: path.to_str().unwrap().to_owned(), shared };
    let mut scope = Scope { migrations: Arc::new([]), ..scope(tenant) };
    scope.grants.databases = [("main".parse().unwrap(), grant)].into();
    scope
}

async fn void(host: &Arc<dyn Databases>, scope: Scope, number: u64) -> Result<(), SqlError> {
    let connection = open_in(host, scope, Rights::Write, number).await?;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, "UPDATE tickets SET state = 'void'").await?;
    transaction.commit(json("1")).await
}

/// A data folder and, beside it, the place of an existing file.
fn given(folder: &Folder) -> (Arc<dyn Databases>, std::path::PathBuf) {
    std::fs::create_dir(folder.path("data")).unwrap();
    (Arc::new(SqliteDatabases::new(folder.path("data"), roomy())), folder.path("crm.db"))
}

/// A database that cannot be opened may be back later: reads and writes say so.
async fn check_away(host: &Arc<dyn Databases>, scope: &Scope) {
    for rights in [Rights::Read, Rights::Write] {
        let opened = open_in(host, scope.clone(), rights, 1).await.map(|_| ());
        assert!(matches!(opened, Err(SqlError::Unreachable(_))), "{rights:?}: {opened:?}");
    }
    assert!(host.records(scope, key(1)).await.is_err());
}

#[tokio::test]
async fn a_database_that_is_away_is_unreachable_whatever_took_it_away() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    let scope = granted("acme", &path, false);
    check_away(&host, &scope).await;
    make(&path);
    void(&host, scope.clone(), 1).await.unwrap();
    let away = folder.path("away.db");
    std::fs::rename(&path, &away).unwrap();
    check_away(&host, &scope).await;

    std::fs::write(&path, "this is no database, whatever its name says".repeat(99)).unwrap();
    check_away(&host, &scope).await;
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    check_away(&host, &scope).await;
    std::fs::remove_dir(&path).unwrap();
    make(&path);
    check_away(&host, &scope).await;
    // Its folder cannot be looked into: it is none.
    check_away(&host, &granted("acme", &path.join("inner.db"), false)).await;

    std::fs::rename(&away, &path).unwrap();
    assert_eq!(host.records(&scope, key(1)).await.unwrap().len(), 1, "it is back");
}

#[tokio::test]
async fn an_existing_file_is_used_as_it_is_and_never_made() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    let scope = granted("acme", &path, false);
    assert!(matches!(void(&host, scope.clone(), 1).await, Err(SqlError::Unreachable(_))));
    assert!(host.records(&scope, key(1)).await.is_err() && host.fit(&scope).await.is_err());
    assert!(!path.exists());

    make(&path);
    void(&host, scope.clone(), 1).await.unwrap();
    assert_eq!(host.records(&scope, key(1)).await.unwrap().len(), 1);
    let file = Connection::open(&path).unwrap();
    let mode: String = file.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    let strict: i64 = file
        .query_row("SELECT count(*) FROM pragma_table_list WHERE strict AND name LIKE 'tether%'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(strict, 0, "older programs still read it");
}

#[tokio::test]
async fn an_existing_file_belongs_to_its_first_tenant() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    make(&path);
    void(&host, granted("acme", &path, false), 1).await.unwrap();
    for rights in [Rights::Read, Rights::Write] {
        let other = open_in(&host, granted("umbrella", &path, false), rights, 2).await.map(|_| ());
        assert!(matches!(other, Err(SqlError::Other(why)) if why.contains("another tenant")));
    }
    assert!(host.records(&granted("umbrella", &path, false), key(1)).await.is_err());
    void(&host, granted("umbrella", &path, true), 3).await.unwrap();
    void(&host, granted("acme", &path, false), 4).await.unwrap();
}

#[tokio::test]
async fn a_path_with_the_tenant_in_it_is_a_file_for_each() {
    let folder = Folder::new();
    let (host, _) = given(&folder);
    let pattern = folder.path("{tenant}.db");
    make(&folder.path("acme.db"));
    make(&folder.path("%2e%2e%2facme.db"));
    void(&host, granted("acme", &pattern, false), 1).await.unwrap();
    let other = open_in(&host, granted("../acme", &pattern, false), Rights::Read, 2).await.unwrap();
    assert_eq!(one(&other, "SELECT state FROM tickets").await, Value::Text("open".into()));
}

#[tokio::test]
async fn another_file_in_its_place_is_no_proof_that_nothing_was_done() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    let scope = granted("acme", &path, false);
    make(&path);
    void(&host, scope.clone(), 1).await.unwrap();

    std::fs::rename(&path, folder.path("away.db")).unwrap();
    assert!(host.records(&scope, key(1)).await.is_err(), "it is gone");
    make(&path);
    assert!(host.records(&scope, key(1)).await.is_err(), "it is another");
    assert!(host.fit(&scope).await.is_err());
    assert!(host.empty_records(&scope, key(1)).await.is_err());
    assert!(matches!(void(&host, scope.clone(), 1).await, Err(SqlError::Unreachable(_))));

    std::fs::rename(folder.path("away.db"), &path).unwrap();
    assert_eq!(host.records(&scope, key(1)).await.unwrap().len(), 1, "the old one is back");
}

#[tokio::test]
async fn an_own_database_that_is_gone_is_not_made_again() {
    let folder = Folder::new();
    let host = databases(&folder, roomy());
    open(&host, 1).await;
    drop(host);
    std::fs::remove_dir_all(folder.path("databases")).unwrap();
    let host = databases(&folder, roomy());
    assert!(host.records(&scope("acme"), key(1)).await.is_err());
    check_away(&host, &scope("acme")).await;
    assert!(open_in(&host, scope("umbrella"), Rights::Write, 1).await.is_ok());
}

#[tokio::test]
async fn files_of_tethers_own_cannot_be_granted() {
    let folder = Folder::new();
    let host = databases(&folder, roomy());
    let own = granted("acme", &folder.path("databases.db"), true);
    assert!(matches!(open_in(&host, own, Rights::Read, 1).await.map(|_| ()), Err(SqlError::Other(_))));
    for path in [":memory:", "file:x.db?mode=memory"] {
        let result = open_in(&host, granted("acme", Path::new(path), true), Rights::Read, 1).await;
        assert!(matches!(result.map(|_| ()), Err(SqlError::Unreachable(_))), "{path}");
    }
}

#[tokio::test]
async fn a_commit_that_fails_is_undone_and_can_be_done_again() {
    let folder = Folder::new();
    let path = folder.path("crm.db");
    make(&path);
    std::fs::create_dir(folder.path("data")).unwrap();
    let limits = SqlLimits { turn_time: Duration::from_millis(200), ..roomy() };
    let host: Arc<dyn Databases> = Arc::new(SqliteDatabases::new(folder.path("data"), limits));
    let scope = granted("acme", &path, false);
    let connection = open_in(&host, scope.clone(), Rights::Write, 1).await.unwrap();
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, "UPDATE tickets SET state = 'void'").await.unwrap();

    // Somebody who reads keeps a rollback journal from committing.
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM tickets;").unwrap();
    assert_eq!(transaction.commit(json("1")).await, Err(SqlError::Busy));
    reader.execute_batch("COMMIT").unwrap();

    assert!(host.records(&scope, key(1)).await.unwrap().is_empty());
    assert_eq!(one(&connection, "SELECT state FROM tickets").await, Value::Text("open".into()));
    void(&host, scope.clone(), 1).await.unwrap();
    assert_eq!(host.records(&scope, key(1)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_journal_that_a_crash_left_is_undone_first() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    make(&folder.path("crashing.db"));
    let crashing = Connection::open(folder.path("crashing.db")).unwrap();
    crashing.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN").unwrap();
    for number in 2..2_000 {
        crashing.execute("INSERT INTO tickets VALUES (?, ?)", (number, "x".repeat(500))).unwrap();
    }
    // What the disk holds in the middle of it is what a crash leaves.
    std::fs::copy(folder.path("crashing.db"), &path).unwrap();
    std::fs::copy(folder.path("crashing.db-journal"), folder.path("crm.db-journal")).unwrap();

    let scope = granted("acme", &path, false);
    let connection = open_in(&host, scope, Rights::Read, 1).await.unwrap();
    assert_eq!(one(&connection, "SELECT count(*) FROM tickets").await, Value::Integer(1));
}

#[tokio::test]
async fn two_paths_to_one_file_are_one_turn() {
    let folder = Folder::new();
    let (host, path) = given(&folder);
    make(&path);
    let mut scope = granted("acme", &path, true);
    let roundabout = DatabaseGrant::Sqlite {
        path: folder.path("data/../crm.db").to_str().unwrap().to_owned(),
        shared: true,
    };
    scope.grants.databases.insert("again".parse().unwrap(), roundabout);
    let session = host.session(scope.clone(), work(Rights::Write, 1));
    let first = session.open("main".parse().unwrap()).await.unwrap();
    let second = session.open("again".parse().unwrap()).await.unwrap();
    let transaction = fresh(&first, None).await;
    let waiting = tokio::spawn(async move { not_begun(&second, None).await });
    transaction.commit(json("1")).await.unwrap();
    assert_eq!(waiting.await.unwrap(), Ok("1".to_owned()));
}
