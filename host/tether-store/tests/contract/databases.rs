//! Cases of `Databases`: values, rights, migrations, tenants.

use std::sync::Arc;

use tether_core::grant::DatabaseGrant;
use tether_core::port::databases::{Databases, Rights, Scope, SqlError, Unfit, Value};
use tokio::task::JoinSet;

use super::given::*;

type Host = Arc<dyn Databases>;

pub(crate) async fn values_are_exact(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, "CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB)").await.unwrap();
    let values = [
        Value::Null,
        Value::Integer(i64::MIN),
        Value::Integer(i64::MAX),
        Value::Integer(9_007_199_254_740_993),
        Value::Real(0.1),
        Value::Real(0.0),
        Value::Real(f64::MAX),
        Value::Real(f64::MIN_POSITIVE / 2.0),
        Value::Real(f64::INFINITY),
        Value::Text(String::new()),
        Value::Text("9007199254740993".into()),
        Value::Text("e\u{301} \u{1f600} ' \0 end".into()),
        Value::Blob(vec![]),
        Value::Blob(vec![0, 255, 39]),
    ];
    for value in values {
        let column = match value {
            Value::Real(_) => "r",
            Value::Text(_) => "t",
            Value::Blob(_) => "b",
            _ => "i",
        };
        run(&mut transaction, "DELETE FROM v").await.unwrap();
        let insert = format!("INSERT INTO v ({column}) VALUES ($1)");
        assert_eq!(transaction.execute(insert, vec![value.clone()]).await, Ok(1), "{value:?}");
        let select = format!("SELECT {column} FROM v WHERE {column} IS $1");
        let found = only(transaction.query(select, vec![value.clone()]).await.unwrap());
        assert_eq!(found, value);
        if let (Value::Real(a), Value::Real(b)) = (found, value) {
            assert_eq!(a.to_bits(), b.to_bits(), "{a}");
        }
    }
    let truth = transaction.query("SELECT $1".into(), vec![Value::Boolean(true)]).await.unwrap();
    assert!(matches!(only(truth), Value::Boolean(true) | Value::Integer(1)));
    for real in [f64::NAN, -0.0] {
        let insert = "INSERT INTO v (r) VALUES ($1)".to_owned();
        match transaction.execute(insert, vec![Value::Real(real)]).await {
            Ok(_) => {
                let found = transaction.query("SELECT r FROM v".into(), vec![]).await.unwrap();
                let Value::Real(found) = only(found) else { panic!("{real} was stored as something else") };
                assert_eq!(found.to_bits(), real.to_bits());
            }
            Err(refusal) => {
                assert!(matches!(refusal, SqlError::Other(why) if why.contains(&format!("{real:?}"))))
            }
        }
        run(&mut transaction, "DELETE FROM v").await.unwrap();
    }
}

pub(crate) async fn parameters_bind_by_number(host: Host) {
    let connection = open(&host, 1).await;
    let query = async |sql: &str, values: &[i64]| {
        let values = values.iter().copied().map(Value::Integer).collect();
        connection.query(sql.to_owned(), values).await.map(|found| found.rows)
    };
    let row = |values: &[i64]| Ok(vec![values.iter().copied().map(Value::Integer).collect::<Vec<_>>()]);
    assert_eq!(query("SELECT $2, $1, $2", &[10, 20]).await, row(&[20, 10, 20]));
    let ten: Vec<i64> = (1..=10).collect();
    assert_eq!(
        query("SELECT $10, $9, $8, $7, $6, $5, $4, $3, $2, $1", &ten).await,
        row(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    );
    for (sql, values) in [
        ("SELECT $1, $2", vec![1]),
        ("SELECT $1", vec![1, 2]),
        ("SELECT $2", vec![1, 2]),
        ("SELECT 1", vec![1]),
        ("SELECT ?", vec![1]),
        ("SELECT ?1", vec![1]),
        ("SELECT :a", vec![1]),
        ("SELECT @a", vec![1]),
        ("SELECT $a", vec![1]),
        ("SELECT $0", vec![1]),
        ("SELECT $01", vec![1]),
        ("SELECT $1::text(2)", vec![1]),
        ("SELECT $99999999999999999999", vec![1]),
    ] {
        assert!(matches!(query(sql, &values).await, Err(SqlError::Other(_))), "{sql} with {values:?}");
    }
}

pub(crate) async fn changed_rows_are_counted(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    assert_eq!(run(&mut transaction, "UPDATE tickets SET state = 'x'").await, Ok(2));
    assert_eq!(run(&mut transaction, "UPDATE tickets SET state = 'y' WHERE id = 9").await, Ok(0));
    assert_eq!(run(&mut transaction, "CREATE TABLE t (a)").await, Ok(0));
    assert_eq!(run(&mut transaction, "SELECT * FROM tickets").await, Ok(0));
    assert_eq!(run(&mut transaction, "INSERT INTO t VALUES (1), (2), (3)").await, Ok(3));
    assert_eq!(run(&mut transaction, "INSERT INTO t SELECT 4 RETURNING a").await, Ok(1));
    let returned = transaction.query("DELETE FROM t WHERE a = 4 RETURNING a".into(), vec![]).await;
    assert_eq!(only(returned.unwrap()), Value::Integer(4));
}

pub(crate) async fn a_constraint_leaves_the_transaction_usable(host: Host) {
    let connection = open(&host, 1).await;
    let mut transaction = fresh(&connection, None).await;
    run(&mut transaction, "CREATE TABLE child (ticket INTEGER REFERENCES tickets (id), n CHECK (n > 0))")
        .await
        .unwrap();
    for broken in [
        "INSERT INTO tickets VALUES (1, 'again')",
        "INSERT INTO tickets VALUES (3, NULL)",
        "INSERT INTO child VALUES (9, 1)",
        "INSERT INTO child VALUES (1, 0)",
        "INSERT INTO tickets VALUES (7, 'a'), (8, 'b'), (1, 'c')",
    ] {
        let result = run(&mut transaction, broken).await;
        assert!(matches!(result, Err(SqlError::Constraint(_))), "{broken}: {result:?}");
    }
    assert_eq!(run(&mut transaction, "INSERT INTO tickets VALUES (3, 'open')").await, Ok(1));
    transaction.commit(json("1")).await.unwrap();
    let ids = "SELECT group_concat(id) FROM (SELECT id FROM tickets ORDER BY id)";
    assert_eq!(one(&connection, ids).await, Value::Text("1,2,3".into()));
}

pub(crate) async fn a_read_changes_nothing(host: Host) {
    let reader = open_in(&host, scope("acme"), Rights::Read, 1).await.unwrap();
    let writer = open(&host, 2).await;
    for connection in [&reader, &writer] {
        for sql in [
            "INSERT INTO tickets VALUES (3, 'open')",
            "INSERT INTO tickets VALUES (3, 'open') RETURNING id",
            "UPDATE tickets SET state = 'void'",
            "WITH one AS (SELECT 1 AS id) DELETE FROM tickets WHERE id IN (SELECT id FROM one)",
            "REPLACE INTO tickets VALUES (1, 'x')",
            "CREATE TABLE t (a)",
            "CREATE INDEX i ON tickets (state)",
            "CREATE VIEW w AS SELECT 1",
            "DROP TABLE tickets",
            "ALTER TABLE tickets ADD COLUMN n",
            "ALTER TABLE tickets RENAME TO slips",
        ] {
            assert_eq!(connection.query(sql.into(), vec![]).await, Err(SqlError::ReadOnly), "{sql}");
        }
        assert_eq!(one(connection, "SELECT count(*) FROM tickets").await, Value::Integer(2));
    }
    assert!(matches!(reader.begin(None).await, Err(SqlError::ReadOnly)));
}

pub(crate) async fn one_statement_a_call(host: Host) {
    let connection = open(&host, 1).await;
    let result = connection.query("SELECT 1; SELECT 2".into(), vec![]).await;
    assert!(matches!(result, Err(SqlError::Forbidden(_))), "{result:?}");
    let result = connection.query("SELECT 1; DELETE FROM tickets".into(), vec![]).await;
    assert!(matches!(result, Err(SqlError::Forbidden(_) | SqlError::ReadOnly)), "{result:?}");
    for sql in ["", " ", "-- nothing", "SELECT", "SELECT 1\0", "SELECT nothing FROM nowhere"] {
        let result = connection.query(sql.into(), vec![]).await;
        assert!(matches!(result, Err(SqlError::Other(_))), "{sql}: {result:?}");
    }
    for sql in ["SELECT 1;", "SELECT 1; ;", "/* one */ SELECT 1 -- two"] {
        assert_eq!(one(&connection, sql).await, Value::Integer(1));
    }
    let double = connection.query("SELECT \"open\"".into(), vec![]).await;
    assert!(matches!(double, Err(SqlError::Other(_))), "double quotes are for names");
}

pub(crate) async fn only_granted_databases_open(host: Host) {
    let session = host.session(scope("acme"), work(Rights::Write, 1));
    let result = session.open("other".parse().unwrap()).await;
    assert!(matches!(result, Err(SqlError::NotGranted)));
}

pub(crate) async fn migrations_are_applied_once_whoever_comes_first(host: Host) {
    let mut racers = JoinSet::new();
    for number in 0..20 {
        let host = host.clone();
        let rights = if number % 2 == 0 { Rights::Read } else { Rights::Write };
        racers.spawn(async move {
            let connection = open_in(&host, scope("acme"), rights, number).await.unwrap();
            one(&connection, "SELECT count(*) FROM tickets").await
        });
    }
    while let Some(count) = racers.join_next().await {
        assert_eq!(count.unwrap(), Value::Integer(2));
    }
}

pub(crate) async fn migrations_come_in_order_and_are_never_edited(host: Host) {
    let with = |migrations: &[(&str, &str)]| Scope {
        migrations: migrations.iter().map(|(id, sql)| migration(id, sql)).collect(),
        ..scope("acme")
    };
    let open = async |scope: Scope| open_in(&host, scope, Rights::Read, 1).await;
    let first = ("b", "CREATE TABLE t (a); INSERT INTO t VALUES (1);");
    let second = ("a", "UPDATE t SET a = a + 1; INSERT INTO t VALUES (9)");
    assert_eq!(host.fit(&with(&[first])).await.unwrap(), Ok(()), "what was never opened fits");
    open(with(&[first])).await.unwrap();

    let broken = ("broken", "INSERT INTO t VALUES (5); INSERT INTO nowhere VALUES (5);");
    assert!(
        matches!(open(with(&[first, broken])).await, Err(SqlError::Other(why)) if why.contains("`broken`"))
    );
    let ended = ("ended", "INSERT INTO t VALUES (5); COMMIT; INSERT INTO t VALUES (6)");
    assert!(matches!(open(with(&[first, ended])).await, Err(SqlError::Forbidden(_))));

    let connection = open(with(&[first, second])).await.unwrap();
    assert_eq!(
        one(&connection, "SELECT sum(a) FROM t").await,
        Value::Integer(11),
        "a failed one left nothing"
    );
    let edited = open(with(&[("b", "CREATE TABLE t (a, b)"), second])).await;
    assert!(matches!(edited, Err(SqlError::Other(why)) if why.contains("never edited")));

    let unknown =
        |id: &str| Err(Unfit::UnknownMigration { database: "main".parse().unwrap(), migration: id.into() });
    assert_eq!(host.fit(&with(&[first, second])).await.unwrap(), Ok(()));
    assert_eq!(host.fit(&with(&[first, second, ("c", "")])).await.unwrap(), Ok(()), "it can be applied");
    assert_eq!(host.fit(&with(&[first])).await.unwrap(), unknown("a"));
    assert_eq!(host.fit(&with(&[first, ("a", "SELECT 1")])).await.unwrap(), unknown("a"));
    let other = Scope { component: "other".parse().unwrap(), ..with(&[]) };
    assert_eq!(host.fit(&other).await.unwrap(), Ok(()));
}

pub(crate) async fn every_tenant_has_a_database_of_its_own(host: Host) {
    let long = "ä".repeat(127);
    let tenants = [
        "acme",
        "Acme",
        "ACME",
        "a/b",
        "a%2fb",
        "..",
        ".",
        "../acme",
        "a b",
        "con",
        "😀",
        "{tenant}",
        "sqlite:x",
        &format!("{long}a"),
        &format!("{long}b"),
    ];
    for (number, tenant) in (0..).zip(tenants) {
        let connection = open_in(&host, scope(tenant), Rights::Write, number).await.unwrap();
        let mut transaction = fresh(&connection, None).await;
        let name = vec![Value::Text(tenant.to_owned())];
        transaction.execute("UPDATE tickets SET state = $1".into(), name).await.unwrap();
        transaction.commit(json("1")).await.unwrap();
    }
    for (number, tenant) in (100..).zip(tenants) {
        let connection = open_in(&host, scope(tenant), Rights::Read, number).await.unwrap();
        let state = one(&connection, "SELECT DISTINCT state FROM tickets").await;
        assert_eq!(state, Value::Text(tenant.to_owned()));
    }
    let mut other = scope("acme");
    other.component = "Tickets".parse().unwrap();
    other.grants.databases.insert("Main".parse().unwrap(), DatabaseGrant::Own);
    let connection = open_in(&host, other.clone(), Rights::Read, 1).await.unwrap();
    let open = Value::Text("open".into());
    assert_eq!(one(&connection, "SELECT DISTINCT state FROM tickets").await, open);
    let capital = host.session(other, work(Rights::Read, 1)).open("Main".parse().unwrap()).await.unwrap();
    assert!(capital.query("SELECT * FROM tickets".into(), vec![]).await.is_err(), "another database");
}

/// `host` allows 10 rows and 1,000 bytes.
pub(crate) async fn answers_and_statements_have_limits(host: Host) {
    let connection = open(&host, 1).await;
    let numbers = |count: u32| {
        format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n"
        )
    };
    let query = async |sql: &str| connection.query(sql.to_owned(), vec![]).await;
    assert_eq!(query(&numbers(10)).await.unwrap().rows.len(), 10);
    assert_eq!(query(&numbers(11)).await, Err(SqlError::TooLarge));
    assert!(query("SELECT printf('%.900c', 'x')").await.is_ok());
    assert_eq!(query("SELECT printf('%.1001c', 'x')").await, Err(SqlError::TooLarge));
    assert_eq!(query("SELECT zeroblob(2000000000)").await, Err(SqlError::TooLarge));
    assert_eq!(query(&format!("SELECT '{}'", "x".repeat(1000))).await, Err(SqlError::TooLarge));
    let text = vec![Value::Text("x".repeat(1000))];
    assert_eq!(connection.query("SELECT $1".into(), text).await, Err(SqlError::TooLarge));
    let mut transaction = fresh(&connection, None).await;
    assert_eq!(transaction.query(numbers(11), vec![]).await, Err(SqlError::TooLarge));
    assert_eq!(run(&mut transaction, "DELETE FROM tickets").await, Ok(2), "it stays usable");
}
