//! Writes to databases, each with its record.

use std::sync::Arc;

use tether_core::port::databases::{Begun, Rights, SqlError, Transaction, Value};

use super::{action_id, filler, json};
use crate::disk::Disk;
use crate::facts::{Database, Fact, Write, WriteId};
use crate::random::Random;
use crate::stores::{DATABASES, Stores};

/// Commits one write to every database, so that it can be told from then on.
pub(crate) async fn write_everywhere(
    stores: &Stores,
    disk: &Arc<Disk>,
    random: &mut Random,
) -> Result<(), String> {
    for (number, database) in (1_000_000..).zip(DATABASES) {
        commit(stores, disk, (action_id(number), None), database, random).await?;
    }
    Ok(())
}

/// A transaction and its record; again, where it was undone because a sync failed. Others
/// look for it meanwhile: whoever finds it was told.
pub(super) async fn commit(
    stores: &Stores,
    disk: &Arc<Disk>,
    id: WriteId,
    database: Database,
    random: &mut Random,
) -> Result<(), String> {
    while !try_commit(stores, disk, &id, database, random).await? {}
    Ok(())
}

async fn try_commit(
    stores: &Stores,
    disk: &Arc<Disk>,
    id: &WriteId,
    database: Database,
    random: &mut Random,
) -> Result<bool, String> {
    let mut transaction = match begin(stores, disk, id, database).await {
        Ok(transaction) => transaction,
        Err(SqlError::Unreachable(_)) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let rows = 1 + random.below(4) as i64;
    insert(&mut *transaction, id, rows, random).await?;
    let output = format!("{:?}", filler(random, 1_500));
    disk.told(Fact::Committing(id.clone(), Write { database, rows, output: output.clone() }));
    let watching = tokio::spawn(watch(stores.clone(), disk.clone(), id.clone(), database, random.below(4)));
    let committed = transaction.commit(json(output)).await;
    if committed.is_ok() {
        disk.told(Fact::Committed(id.clone()));
    }
    watching.abort();
    let _ = watching.await;
    match committed {
        Ok(()) => Ok(true),
        Err(SqlError::Unreachable(_)) => Ok(settle(stores, disk, id, database).await),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) async fn begin(
    stores: &Stores,
    disk: &Disk,
    id: &WriteId,
    database: Database,
) -> Result<Box<dyn Transaction>, SqlError> {
    let connection = stores.database(database, Rights::Write, id.0).await?;
    disk.told(Fact::Opened(database));
    match connection.begin(id.1.clone()).await? {
        Begun::Fresh(transaction) => Ok(transaction),
        Begun::Recorded(_) => Err(SqlError::Other("it was committed before".to_owned())),
    }
}

/// Looks for a write in one of the ways in which it can be found, until it is.
async fn watch(stores: Stores, disk: Arc<Disk>, id: WriteId, database: Database, way: usize) {
    while !matches!(stores.tell(database, &id, way).await, Ok(true)) {
        tokio::task::yield_now().await;
    }
    disk.told(Fact::Committed(id));
}

/// Asks what became of a write until that can be known.
pub(super) async fn settle(stores: &Stores, disk: &Disk, id: &WriteId, database: Database) -> bool {
    loop {
        if let Ok(there) = stores.tell(database, id, 0).await {
            let id = id.clone();
            disk.told(if there { Fact::Committed(id) } else { Fact::Undone(id) });
            return there;
        }
    }
}

pub(super) async fn insert(
    transaction: &mut dyn Transaction,
    (id, step): &WriteId,
    rows: i64,
    random: &mut Random,
) -> Result<(), String> {
    for part in 0..rows {
        let values = vec![
            Value::Text(id.to_string()),
            Value::Text(step.as_ref().map_or(String::new(), |step| step.to_string())),
            Value::Integer(part),
            Value::Blob(filler(random, 6_000).into_bytes()),
        ];
        let inserted =
            transaction.execute("INSERT INTO parts VALUES ($1, $2, $3, $4)".to_owned(), values).await;
        inserted.map_err(|error| error.to_string())?;
    }
    Ok(())
}
