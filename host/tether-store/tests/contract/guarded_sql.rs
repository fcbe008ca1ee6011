//! What the SQL of a component may not do, wherever it stands.

use std::sync::Arc;

use tether_core::port::databases::{Databases, Rights, Scope, SqlError, Value};

use super::given::*;

type Host = Arc<dyn Databases>;

/// Forbidden in a read, in a transaction and in a migration alike.
const FORBIDDEN: &[&str] = &[
    // Transactions.
    "BEGIN",
    "begin immediate",
    "COMMIT",
    "END",
    "/* x */ Commit",
    "ROLLBACK",
    "SAVEPOINT a",
    "RELEASE a",
    "ROLLBACK TO a",
    "EXPLAIN COMMIT",
    // Files and settings.
    "ATTACH '/tmp/tether-store-attached.db' AS a",
    "ATTACH ':memory:' AS a",
    "DETACH main",
    "VACUUM",
    " -- x\n vacuum",
    "VACUUM INTO '/tmp/tether-store-vacuumed.db'",
    "PRAGMA user_version",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = 1",
    "PRAGMA query_only = 0",
    "PRAGMA main.synchronous = OFF",
    "SELECT load_extension('/tmp/x')",
    "SELECT LOAD_EXTENSION('/tmp/x', 'y')",
    // Tether's own tables, read or written.
    "SELECT * FROM tether_records",
    "SELECT output FROM main.tether_records",
    "SELECT count(*) FROM TETHER_RECORDS",
    "SELECT 1 FROM \"Tether_Records\"",
    "SELECT 1 FROM [tether_records]",
    "SELECT 1 FROM `tether_records`",
    "SELECT 1 FROM 'tether_records'",
    "SELECT 1 FROM/**/tether_records/**/",
    "WITH r AS (SELECT * FROM tether_records) SELECT 1 FROM r",
    "SELECT (SELECT max(output) FROM tether_records)",
    "SELECT * FROM tickets WHERE EXISTS (SELECT 1 FROM tether_records)",
    "SELECT * FROM tickets UNION SELECT key, step FROM tether_records",
    "SELECT * FROM tether_database",
    "SELECT * FROM tether_migrations",
    "SELECT * FROM dbstat",
];

/// Forbidden in a transaction and in a migration; a read may do even less.
const FORBIDDEN_WRITES: &[&str] = &[
    "DELETE FROM tether_records",
    "DELETE FROM tickets WHERE id IN (SELECT attempt FROM tether_records)",
    "INSERT INTO tether_records VALUES ('k', '', 1, '{}', '[]', 0)",
    "INSERT OR REPLACE INTO \"TETHER_records\" VALUES ('k', '', 1, '{}', '[]', 0)",
    "UPDATE tether_records SET output = '1'",
    "UPDATE tickets SET state = (SELECT id FROM tether_database)",
    "WITH x AS (SELECT 1) INSERT INTO tether_records SELECT 'k', '', 1, '{}', '[]', 0 FROM x",
    "INSERT INTO tickets SELECT attempt, output FROM tether_records",
    "UPDATE tether_database SET id = 'x'",
    "DELETE FROM tether_migrations",
    "DROP TABLE tether_records",
    "DROP TABLE IF EXISTS \"Tether_records\"",
    "ALTER TABLE tether_records RENAME TO x",
    "ALTER TABLE tether_records ADD COLUMN x",
    "ALTER TABLE tether_records DROP COLUMN output",
    "ALTER TABLE tickets RENAME TO tether_tickets",
    "ALTER TABLE tickets RENAME TO \"TETHER_x\"",
    "CREATE TABLE tether_mine (a)",
    "CREATE TABLE [Tether_Mine] (a)",
    "CREATE TABLE x AS SELECT * FROM tether_records",
    "CREATE TABLE x (a REFERENCES tether_records (key))",
    "CREATE INDEX x ON tether_records (output)",
    "CREATE INDEX tether_x ON tickets (state)",
    "CREATE VIEW x AS SELECT * FROM tether_records",
    "CREATE VIEW tether_x AS SELECT 1",
    "CREATE TRIGGER x AFTER INSERT ON tether_records BEGIN SELECT 1; END",
    "CREATE TRIGGER x AFTER UPDATE ON tickets BEGIN DELETE FROM tether_records; END",
    "CREATE TRIGGER tether_x AFTER UPDATE ON tickets BEGIN SELECT 1; END",
    "CREATE TEMP TABLE x (a)",
    "CREATE TEMP VIEW x AS SELECT 1",
    "CREATE TEMP TRIGGER x AFTER UPDATE ON main.tickets BEGIN SELECT 1; END",
    "CREATE TABLE temp.x (a)",
    "CREATE VIEW temp.x AS SELECT 1",
    "CREATE TRIGGER temp.x AFTER UPDATE ON main.tickets BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE temp.x USING fts5 (a)",
    "CREATE VIRTUAL TABLE x USING fts5 (output, content = tether_records)",
    "ANALYZE tether_records",
    "REINDEX tether_records",
    "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, '')",
    "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM sqlite_schema",
];

/// What a component may do.
const ALLOWED: &[&str] = &[
    "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, ticket REFERENCES tickets (id), s TEXT UNIQUE)",
    "INSERT INTO a (ticket, s) VALUES (1, 'tether_ is only a text here')",
    "CREATE INDEX a_by_ticket ON a (ticket)",
    "CREATE VIEW w AS SELECT a.s, t.state FROM a JOIN tickets AS t ON t.id = a.ticket",
    "SELECT * FROM w",
    "CREATE TABLE log (what)",
    "CREATE TRIGGER logged AFTER INSERT ON a BEGIN INSERT INTO log VALUES (new.s); END",
    "INSERT INTO a (ticket, s) VALUES (2, 'b') ON CONFLICT DO NOTHING RETURNING id",
    "ALTER TABLE a ADD COLUMN n INTEGER DEFAULT 0",
    "ALTER TABLE a RENAME COLUMN n TO m",
    "ALTER TABLE a RENAME TO b",
    "ALTER TABLE b DROP COLUMN m",
    "SELECT json_extract('{\"a\":1}', '$.a'), sum(id) OVER (), date('now') FROM tickets",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n",
    "CREATE VIRTUAL TABLE f USING fts5 (body)",
    "INSERT INTO f VALUES ('the quick fox')",
    "SELECT body FROM f WHERE f MATCH 'quick'",
    "EXPLAIN QUERY PLAN SELECT * FROM tickets",
    "SELECT name FROM sqlite_master",
    "ANALYZE tickets",
    "REINDEX tickets",
    "DROP VIEW w",
    "DROP TRIGGER logged",
    "DROP TABLE f",
    "DROP INDEX a_by_ticket",
    "DROP TABLE b",
];

pub(crate) async fn forbidden_sql_is_forbidden_everywhere(host: Host) {
    let connection = open(&host, 1).await;
    for sql in FORBIDDEN {
        let result = connection.query((*sql).into(), vec![]).await;
        assert!(matches!(result, Err(SqlError::Forbidden(_))), "read: {sql}: {result:?}");
    }
    for sql in FORBIDDEN_WRITES {
        let result = connection.query((*sql).into(), vec![]).await;
        assert!(result.is_err(), "read: {sql}");
    }
    let mut transaction = fresh(&connection, None).await;
    for sql in FORBIDDEN.iter().chain(FORBIDDEN_WRITES) {
        let result = run(&mut transaction, sql).await;
        assert!(matches!(result, Err(SqlError::Forbidden(_))), "execute: {sql}: {result:?}");
        let result = transaction.query((*sql).into(), vec![]).await;
        assert!(matches!(result, Err(SqlError::Forbidden(_))), "query: {sql}: {result:?}");
    }
    assert_eq!(run(&mut transaction, "UPDATE tickets SET state = 'void'").await, Ok(2), "it goes on");
    transaction.commit(json("{\"done\":1}")).await.unwrap();
    assert_eq!(host.records(&scope("acme"), key(1)).await.unwrap().len(), 1);
}

pub(crate) async fn forbidden_sql_is_forbidden_in_migrations(host: Host) {
    for (number, sql) in (0..).zip(FORBIDDEN.iter().chain(FORBIDDEN_WRITES)) {
        let mut scope = scope("acme");
        let listed = scope.migrations.iter().cloned().chain([migration("002", sql)]);
        scope.migrations = listed.collect();
        let result = open_in(&host, scope, Rights::Write, number).await.map(|_| ());
        assert!(matches!(result, Err(SqlError::Forbidden(_))), "{sql}: {result:?}");
    }
}

pub(crate) async fn everything_else_is_allowed(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    for sql in ALLOWED {
        let result = transaction.query((*sql).into(), vec![]).await;
        assert!(result.is_ok(), "{sql}: {result:?}");
    }
    transaction.commit(json("1")).await.unwrap();

    let mut scope: Scope = scope("umbrella");
    let listed = scope.migrations.iter().cloned().chain([migration("002", &ALLOWED.join(";\n"))]);
    scope.migrations = listed.collect();
    let connection = open_in(&host, scope, Rights::Read, 2).await.unwrap();
    assert_eq!(one(&connection, "SELECT count(*) FROM log").await, Value::Integer(1));
}

/// To the letter what the host runs on the same connections, and keeps prepared.
const KEPT: &[&str] = &[
    "BEGIN IMMEDIATE",
    "COMMIT",
    "PRAGMA wal_checkpoint(NOOP)",
    "SELECT output FROM tether_records WHERE key = ? AND step = ?",
    "SELECT id, owner FROM tether_database",
    "SELECT id, digest FROM tether_migrations WHERE component = ? ORDER BY at, id",
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tether_records'",
];

pub(crate) async fn what_the_host_keeps_prepared_is_not_the_guests(host: Host) {
    let connection = open(&host, 1).await;
    fresh(&connection, None).await.commit(json("1")).await.unwrap();
    connection.lookup(None).await.unwrap();
    let mut transaction = fresh(&open(&host, 2).await, None).await;
    // The last one is nobody's secret.
    let (open_to_all, ours) = KEPT.split_last().unwrap();
    for sql in ours {
        for found in [
            connection.query((*sql).to_owned(), vec![]).await,
            transaction.query((*sql).to_owned(), vec![]).await,
        ] {
            assert!(matches!(found, Err(SqlError::Forbidden(_))), "{sql}: {found:?}");
        }
    }
    assert_eq!(one(&connection, open_to_all).await, Value::Integer(1));
}

pub(crate) async fn a_statement_that_is_kept_prepared_is_what_it_was_when_it_comes_again(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    for state in ["void", "open"] {
        let update = "UPDATE tickets SET state = $1 WHERE id = 1".to_owned();
        let changed = transaction.execute(update, vec![Value::Text(state.into())]).await;
        assert_eq!(changed, Ok(1));
        let select = "SELECT * FROM tickets WHERE id = 1".to_owned();
        let found = transaction.query(select, vec![]).await.unwrap();
        assert_eq!(found.rows[0][1], Value::Text(state.into()));
        // Its columns are others afterwards.
        run(&mut transaction, &format!("ALTER TABLE tickets ADD COLUMN {state}_at")).await.unwrap();
    }
    let unbound = transaction.execute("UPDATE tickets SET state = $1 WHERE id = 1".to_owned(), vec![]).await;
    assert!(matches!(unbound, Err(SqlError::Other(_))), "no value stays bound: {unbound:?}");
    for _ in 0..2 {
        let refused = run(&mut transaction, "CREATE VIEW a AS SELECT 1 FROM tether_records").await;
        assert!(matches!(refused, Err(SqlError::Forbidden(_))), "{refused:?}");
    }
}
