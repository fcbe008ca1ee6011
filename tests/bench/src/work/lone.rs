//! A confirmation when nothing else is going on.

use std::time::Instant;

use super::writes::{confirm, propose};
use crate::load;
use crate::peer::disk::Disk;
use crate::rounds::{interleaved, median};
use crate::server::{Server, Setup};
use crate::stage::Stage;
use crate::table::{Goal, Table};

/// Confirmations, or syncs, of a round.
const ROUND: usize = 30;

/// What a lone confirmation may take: so many syncs, and so many milliseconds.
const SYNCS: f64 = 3.0;
const BESIDES: f64 = 0.5;

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let server = Setup::new(stage, &[stage.component("tickets")?], stage.fresh("lone")).start()?;
    let mut disk = Disk::open(&server.data)?;
    let mut syncs = || {
        let times = (0..ROUND).map(|_| Ok(disk.sync()?.as_secs_f64() * 1e3));
        times.collect::<anyhow::Result<Vec<_>>>().map(median)
    };
    let [value, sync] = interleaved(stage.short_rounds(), [&mut || confirmations(&server), &mut syncs])?;
    let beside = Some(("one fdatasync of an appended 4 KiB in the same folder", sync));
    // 3 syncs and 0.5 ms.
    let goal = Goal::AtMost(SYNCS * sync + BESIDES);
    table.add("a lone confirm, median", value, beside, "ms", goal);
    Ok(())
}

/// The median time of a confirmation in milliseconds; proposals in between are not
/// counted.
pub(super) fn confirmations(server: &Server) -> anyhow::Result<f64> {
    load::converse(server.address, async |line| {
        let mut times = Vec::with_capacity(ROUND);
        for _ in 0..ROUND {
            let action = propose(&server.api, line).await?;
            let begin = Instant::now();
            confirm(&server.api, line, &action).await?;
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        Ok(median(times))
    })
}
