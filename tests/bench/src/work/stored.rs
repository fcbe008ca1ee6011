//! A confirmation among many stored actions.

use std::path::Path;

use rusqlite::Connection;

use super::lone::confirmations;
use crate::rounds::interleaved;
use crate::rows::{ACTIONS, DATABASE, File};
use crate::server::Setup;
use crate::stage::Stage;
use crate::table::{Goal, Table};

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let (count, name) = stage.either((1_000_000, "1,000,000"), (100_000, "100,000"));
    let tickets = stage.component("tickets")?;
    let serve = |data| Setup::new(stage, &[tickets], data).start();
    let few = serve(stage.fresh("few"))?;
    let many = serve(stage.fresh("many"))?;
    confirmations(&many)?;
    let data = many.stop()?;
    for file in [ACTIONS, DATABASE] {
        fill(&file, &data, count)?;
    }
    let many = serve(data)?;

    let [value, none] =
        interleaved(stage.short_rounds(), [&mut || confirmations(&many), &mut || confirmations(&few)])?;
    let work = format!("a confirm with {name} stored actions");
    table.add(&work, value, Some(("with none", none)), "ms", Goal::RatioAtMost(1.2));
    Ok(())
}

/// Adds the rows of so many actions, each a copy of those of the newest. Written by the
/// server, they would take hours.
fn fill(file: &File, data: &Path, count: i64) -> anyhow::Result<()> {
    let mut rows = file.newest(data)?;
    let mut database = Connection::open(file.path(data))?;
    database.pragma_update(None, "synchronous", "off")?;
    database.pragma_update(None, "cache_size", -400_000)?;
    let transaction = database.transaction()?;
    for number in 0..count {
        rows.insert(&transaction, FIRST + number)?;
    }
    transaction.commit()?;
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// Far above the numbers of the actions that the server has written.
const FIRST: i64 = 1_000_000;
