//! The memory of the server's process.

use std::time::Duration;

use anyhow::ensure;

use crate::load;
use crate::server::Setup;
use crate::stage::Stage;
use crate::table::{Goal, Table};

const CALLS: usize = 1_000;

/// Each call waits in the host for so long: longer than it takes to begin all.
const WAIT: Duration = Duration::from_secs(5);

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let probe = stage.component("probe")?;
    let compiled = Setup::new(stage, &[probe], stage.fresh("memory")).start()?.stop()?;
    let server = Setup::new(stage, &[probe], compiled.clone()).start()?;
    load::converse(server.address, async |line| {
        line.ask(&server.api.call("probe_echo", "{}")).await.map(drop)
    })?;
    table.add("memory at rest", server.memory("VmRSS")?, None, "MiB", Goal::AtMost(40.0));
    server.stop()?;

    // By default a call beyond the 256th would wait for its place, and not be in flight.
    let server =
        Setup::new(stage, &[probe], compiled).setting("TETHER_LIMITS__MAX_CONCURRENT", "1000").start()?;
    let request = server.api.call("probe_sleep", &format!("{{\"ms\":{}}}", WAIT.as_millis()));
    let (first, last) = load::at_once(server.address, CALLS, &request)?;
    ensure!(last - first < WAIT, "the calls were never all in flight: {first:?} to {last:?}");
    let peak = server.memory("VmHWM")?;
    table.add("memory with 1,000 calls in flight, peak", peak, None, "MiB", Goal::AtMost(150.0));
    Ok(())
}
