//! What is still to be told to webhooks, beside the history that it is about.
//!
//! Of each action only the first event that waits is ever due: those after it are due at
//! [`AFTER_ANOTHER`] until it leaves the queue. So a hook that is away for days costs no
//! more to look at than one that is there.

use rusqlite::{Connection, OptionalExtension as _};
use tether_core::clock::Timestamp;
use tether_core::id::ActionId;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::hooks::{Due, Hooks};

use super::SqliteActions;
use crate::row::Fault;

/// When an event is due that waits for another one of its action.
const AFTER_ANOTHER: i64 = i64::MAX;

impl Hooks for SqliteActions {
    fn cursor<'a>(&'a self, hook: &'a str) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.read(move |connection| cursor(connection, &hook)))
    }

    fn take<'a>(
        &'a self,
        hook: &'a str,
        events: Vec<(u64, ActionId)>,
        cursor: u64,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.writer.write(move |connection| take(connection, &hook, &events, cursor, at)))
    }

    fn keep_only(&self, names: Vec<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |connection| keep_only(connection, &names)))
    }

    fn due<'a>(
        &'a self,
        hook: &'a str,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Due>, StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.read(move |connection| due(connection, &hook, now, limit)))
    }

    fn delivered<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.writer.write(move |connection| leave(connection, &hook, number)))
    }

    fn failed<'a>(
        &'a self,
        hook: &'a str,
        number: u64,
        next_at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.writer.write(move |connection| failed(connection, &hook, number, next_at)))
    }

    fn given_up<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let hook = hook.to_owned();
        Box::pin(self.writer.write(move |connection| leave(connection, &hook, number)))
    }
}

fn cursor(connection: &Connection, hook: &str) -> Result<Option<u64>, Fault> {
    let cursor: Option<i64> = connection
        .prepare_cached("SELECT cursor FROM hooks WHERE name = ?")?
        .query_row([hook], |row| row.get(0))
        .optional()?;
    Ok(cursor.map(i64::cast_unsigned))
}

fn take(
    connection: &Connection,
    hook: &str,
    events: &[(u64, ActionId)],
    cursor: u64,
    at: Timestamp,
) -> Result<(), Fault> {
    let mut queue = connection.prepare_cached(
        "INSERT INTO hook_queue (hook, number, action, queued_at, next_at)
         VALUES (?1, ?2, ?3, ?4,
             iif(EXISTS (SELECT 1 FROM hook_queue WHERE hook = ?1 AND action = ?3), ?5, ?4))",
    )?;
    for (number, action) in events {
        queue.execute((hook, number.cast_signed(), action.to_string(), at.as_millis(), AFTER_ANOTHER))?;
    }
    connection
        .prepare_cached(
            "INSERT INTO hooks (name, cursor) VALUES (?, ?)
             ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor",
        )?
        .execute((hook, cursor.cast_signed()))?;
    Ok(())
}

fn keep_only(connection: &Connection, names: &[String]) -> Result<(), Fault> {
    let mut known = connection.prepare("SELECT name FROM hooks")?;
    let known = known.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    for gone in known.iter().filter(|name| !names.contains(name)) {
        connection.execute("DELETE FROM hook_queue WHERE hook = ?", [gone])?;
        connection.execute("DELETE FROM hooks WHERE name = ?", [gone])?;
    }
    Ok(())
}

fn due(connection: &Connection, hook: &str, now: Timestamp, limit: usize) -> Result<Vec<Due>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT number, action, failures, queued_at FROM hook_queue
         WHERE hook = ? AND next_at <= ? ORDER BY next_at, number LIMIT ?",
    )?;
    // A clock that stands at the end of time must not call for what waits for another.
    let now = now.as_millis().min(AFTER_ANOTHER - 1);
    let mut rows = statement.query((hook, now, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        let action: String = row.get("action")?;
        due.push(Due {
            number: row.get::<_, i64>("number")?.cast_unsigned(),
            action: action
                .parse()
                .map_err(|_| Fault::Damaged { id: action, what: "its id in a queue is none".into() })?,
            failures: row.get("failures")?,
            queued_at: Timestamp::from_millis(row.get("queued_at")?),
        });
    }
    Ok(due)
}

/// Takes an event out; the next one of its action is due.
fn leave(connection: &Connection, hook: &str, number: u64) -> Result<(), Fault> {
    let action: Option<String> = connection
        .prepare_cached("DELETE FROM hook_queue WHERE hook = ? AND number = ? RETURNING action")?
        .query_row((hook, number.cast_signed()), |row| row.get(0))
        .optional()?;
    connection
        .prepare_cached(
            "UPDATE hook_queue SET next_at = queued_at WHERE hook = ?1 AND number =
                 (SELECT min(number) FROM hook_queue WHERE hook = ?1 AND action = ?2)",
        )?
        .execute((hook, action))?;
    Ok(())
}

fn failed(connection: &Connection, hook: &str, number: u64, next_at: Timestamp) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "UPDATE hook_queue SET failures = failures + 1, next_at = ? WHERE hook = ? AND number = ?",
        )?
        .execute((next_at.as_millis(), hook, number.cast_signed()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::test_folder::Folder;

    fn id(number: u64) -> ActionId {
        format!("{number:032x}").parse().unwrap()
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    async fn numbers(store: &SqliteActions, hook: &str, now: i64) -> Vec<u64> {
        store.due(hook, at(now), 10).await.unwrap().iter().map(|due| due.number).collect()
    }

    /// A store in which the hook `a` waits for 1, 2, 4 of one action and 3 of another.
    async fn queued(folder: &Folder) -> SqliteActions {
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        store.take("a", vec![(1, id(7)), (2, id(7)), (3, id(8))], 3, at(10)).await.unwrap();
        store.take("a", vec![(4, id(7))], 5, at(20)).await.unwrap();
        store
    }

    #[tokio::test]
    async fn a_hook_goes_on_where_it_was() {
        let folder = Folder::new();
        let store = queued(&folder).await;
        assert_eq!(store.cursor("a").await.unwrap(), Some(5));
        assert_eq!(store.cursor("b").await.unwrap(), None);
        drop(store);
        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        assert_eq!(store.cursor("a").await.unwrap(), Some(5));
        let first = Due { number: 1, action: id(7), failures: 0, queued_at: at(10) };
        assert_eq!(store.due("a", at(10), 1).await.unwrap(), [first]);
    }

    #[tokio::test]
    async fn of_each_action_only_the_first_is_due() {
        let folder = Folder::new();
        let store = queued(&folder).await;
        assert!(numbers(&store, "a", 9).await.is_empty(), "nothing is due before it was queued");
        assert_eq!(numbers(&store, "a", i64::MAX).await, [1, 3]);
        store.delivered("a", 1).await.unwrap();
        assert_eq!(numbers(&store, "a", 10).await, [2, 3]);
        store.given_up("a", 2).await.unwrap();
        assert_eq!(numbers(&store, "a", 20).await, [3, 4]);
        store.delivered("a", 3).await.unwrap();
        store.delivered("a", 4).await.unwrap();
        assert!(numbers(&store, "a", i64::MAX).await.is_empty());
        // What comes now waits for nobody.
        store.take("a", vec![(6, id(7))], 6, at(30)).await.unwrap();
        assert_eq!(numbers(&store, "a", 30).await, [6]);
    }

    #[tokio::test]
    async fn what_failed_is_due_later_and_holds_up_its_own_action_only() {
        let folder = Folder::new();
        let store = queued(&folder).await;
        for _ in 0..2 {
            store.failed("a", 1, at(1_000)).await.unwrap();
        }
        assert_eq!(numbers(&store, "a", 999).await, [3]);
        let due = store.due("a", at(1_000), 10).await.unwrap();
        let failures: Vec<_> = due.iter().map(|due| (due.number, due.failures)).collect();
        assert_eq!(failures, [(3, 0), (1, 2)]);
    }

    #[tokio::test]
    async fn hooks_know_nothing_of_one_another() {
        let folder = Folder::new();
        let store = queued(&folder).await;
        store.take("b", vec![(1, id(7))], 1, at(10)).await.unwrap();
        store.delivered("a", 1).await.unwrap();
        assert_eq!(numbers(&store, "b", 10).await, [1]);
        store.keep_only(vec!["b".into(), "c".into()]).await.unwrap();
        assert_eq!((store.cursor("a").await.unwrap(), numbers(&store, "a", i64::MAX).await), (None, vec![]));
        assert_eq!((store.cursor("b").await.unwrap(), numbers(&store, "b", 10).await), (Some(1), vec![1]));
    }

    /// A hook that is away for long has a long queue, and is looked at every second.
    #[tokio::test]
    async fn a_look_takes_no_longer_because_much_waits() {
        let folder = Folder::new();
        let store = queued(&folder).await;
        let plan = |connection: &Connection| -> Result<String, Fault> {
            let mut statement = connection.prepare(
                "EXPLAIN QUERY PLAN SELECT number, action, failures, queued_at FROM hook_queue
                 WHERE hook = 'a' AND next_at <= 1 ORDER BY next_at, number LIMIT 4",
            )?;
            let lines = statement.query_map([], |row| row.get(3))?;
            Ok(lines.collect::<rusqlite::Result<Vec<String>>>()?.join("\n"))
        };
        let plan = store.read(plan).await.unwrap();
        assert!(plan.contains("hook_queue_by_time (hook=? AND next_at<?)"), "{plan}");
        assert!(!plan.contains("B-TREE"), "{plan}");
    }
}
