//! Writes whose syncs fail, while another program has the file open.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection as File;
use tether_core::port::actions::StoreError;
use tether_core::port::databases::SqlError;

use super::writes::{begin, commit, insert, settle, write_everywhere};
use super::{action_id, json, new_action};
use crate::disk::{Disk, Failing};
use crate::facts::{Fact, Write};
use crate::model::{Forgotten, Model};
use crate::random::Random;
use crate::stores::{DATABASES, Stores};

/// An action, and a write to an existing file, whose syncs fail, while another program has
/// the file open or not. Answers whether the write is told to be there, and the disk at
/// that moment; the action is told as failed.
pub(crate) async fn fail_to_commit(disk: &Arc<Disk>, shared: bool) -> (bool, Model) {
    let (stores, random) = (Stores::open(disk.root()).unwrap(), &mut Random::new(1, 1));
    write_everywhere(&stores, disk, random).await.unwrap();
    let fail = |path| disk.fail(Failing { path, after: 0, count: 1, forgotten: Forgotten::Changes });

    fail("data/actions.db-wal");
    assert!(matches!(stores.actions.propose(new_action(1, random)).await, Err(StoreError::Failed(_))));

    let other = shared.then(|| File::open(disk.root().join("crm.db")).unwrap());
    let reads = |file: &File| file.query_row("SELECT count(*) FROM parts", [], |row| row.get::<_, i64>(0));
    other.as_ref().map(reads).transpose().unwrap();
    fail("crm.db-wal");
    let (database, id) = (DATABASES[2], (action_id(1), None));
    let mut transaction = begin(&stores, disk, &id, database).await.unwrap();
    insert(&mut *transaction, &id, 1, random).await.unwrap();
    assert!(matches!(transaction.commit(json("1".to_owned())).await, Err(SqlError::Unreachable(_))));
    let told = stores.tell(database, &id, 0).await.unwrap();
    // Now: closing a file may tidy it up.
    (told, disk.model())
}

/// A write to a file of Tether's own whose sync fails, while another program has that open:
/// what it came to is told once that program has closed it.
pub(crate) async fn fail_to_commit_beside_another(disk: &Arc<Disk>, forgotten: Forgotten) {
    let (stores, random) = (Stores::open(disk.root()).unwrap(), &mut Random::new(1, 1));
    write_everywhere(&stores, disk, random).await.unwrap();
    let (database, id) = (DATABASES[0], (action_id(1), None));
    let other = File::open(disk.root().join("data/databases/tickets/acme/main.db")).unwrap();
    let rows = |file: &File| file.query_row("SELECT count(*) FROM parts", [], |row| row.get::<_, i64>(0));
    rows(&other).unwrap();

    let path = "data/databases/tickets/acme/main.db-wal";
    disk.fail(Failing { path, after: 0, count: 1, forgotten });
    let mut transaction = begin(&stores, disk, &id, database).await.unwrap();
    // On pages that are there: the first one, without which nothing can be read, stays.
    let small = format!("INSERT INTO parts VALUES ('{}', '', 0, x'00')", id.0);
    transaction.execute(small, vec![]).await.unwrap();
    disk.told(Fact::Committing(id.clone(), Write { database, rows: 1, output: "1".to_owned() }));
    assert!(matches!(transaction.commit(json("1".to_owned())).await, Err(SqlError::Unreachable(_))));
    match stores.tell(database, &id, 0).await {
        Err(SqlError::Unreachable(why)) => {
            assert!(why.ends_with("another program has it open: close that"), "{forgotten:?}: {why}")
        }
        told => panic!("{told:?}"),
    }

    drop(other);
    let there = settle(&stores, disk, &id, database).await;
    assert_eq!(there, forgotten == Forgotten::Changes);
    let another = (action_id(2), None);
    commit(&stores, disk, another.clone(), database, random).await.unwrap();
    assert_eq!(stores.tell(database, &another, 3).await, Ok(true));
    assert_eq!(stores.tell(database, &id, 3).await, Ok(there));
}

/// That the stores in `root` hold what [`fail_to_commit`] was told.
pub(crate) async fn find_what_was_told(root: &Path, told: bool) {
    let stores = Stores::open(root).unwrap();
    for tenant in ["acme", "umbrella"] {
        let action = stores.actions.load(&tenant.parse().unwrap(), action_id(1)).await.unwrap();
        assert!(action.is_none(), "it was told as failed");
    }
    for (id, told) in [(1, told), (1_000_002, true)] {
        assert_eq!(stores.tell(DATABASES[2], &(action_id(id), None), 0).await, Ok(told));
    }
}
