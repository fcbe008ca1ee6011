//! The memory of the server's process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::ensure;

use crate::load;
use crate::server::{Process, Setup};
use crate::stage::Stage;
use crate::table::{Goal, Table};

const CALLS: usize = 1_000;

/// Each call waits in the host for so long: longer than it takes to begin all.
const WAIT: Duration = Duration::from_secs(5);

/// How often the kernel is asked, which takes it some milliseconds each time.
const GLANCE: Duration = Duration::from_millis(200);

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let probe = stage.component("probe")?;
    let compiled = Setup::new(stage, &[probe], stage.fresh("memory")).start()?.stop()?;
    let server = Setup::new(stage, &[probe], compiled.clone()).start()?;
    load::converse(server.address, async |line| {
        line.ask(&server.api.call("probe_echo", "{}")).await.map(drop)
    })?;
    table.add("memory at rest", server.process().memory("status", "VmRSS")?, None, "MiB", Goal::AtMost(40.0));
    server.stop()?;

    // By default a call beyond the 256th would wait for its place, and not be in flight.
    let server =
        Setup::new(stage, &[probe], compiled).setting("TETHER_LIMITS__MAX_CONCURRENT", "1000").start()?;
    let request = server.api.call("probe_sleep", &format!("{{\"ms\":{}}}", WAIT.as_millis()));
    let (process, over) = (server.process(), AtomicBool::new(false));
    let (calls, peak) = thread::scope(|scope| {
        let watcher = scope.spawn(|| peak_of(process, &over));
        let calls = load::at_once(server.address, CALLS, &request);
        over.store(true, Ordering::Relaxed);
        (calls, watcher.join().expect("it does not panic"))
    });
    let (first, last) = calls?;
    ensure!(last - first < WAIT, "the calls were never all in flight: {first:?} to {last:?}");
    table.add("memory with 1,000 calls in flight, peak", peak?, None, "MiB", Goal::AtMost(150.0));
    let resident = server.process().memory("status", "VmHWM")?;
    table.add("the same, shared pages counted for each call", resident, None, "MiB", Goal::None);
    Ok(())
}

/// The most that the server holds until it is `over`.
fn peak_of(process: Process, over: &AtomicBool) -> anyhow::Result<f64> {
    let mut peak: f64 = 0.0;
    while !over.load(Ordering::Relaxed) {
        peak = peak.max(process.memory("smaps_rollup", "Pss")?);
        thread::sleep(GLANCE);
    }
    Ok(peak)
}
