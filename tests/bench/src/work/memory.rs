//! The memory of the server's process.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
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
    let (process, (goes_on, is_over)) = (server.process(), mpsc::channel());
    let watcher = thread::spawn(move || peak_of(process, &is_over));
    let calls = load::at_once(server.address, CALLS, &request);
    drop(goes_on);
    let peak = watcher.join().expect("it does not panic");
    let (first, last) = calls?;
    ensure!(last - first < WAIT, "the calls were never all in flight: {first:?} to {last:?}");
    table.add("memory with 1,000 calls in flight, peak", peak?, None, "MiB", Goal::AtMost(150.0));
    let resident = server.process().memory("status", "VmHWM")?;
    table.add("the same, shared pages counted for each call", resident, None, "MiB", Goal::None);
    Ok(())
}

/// The most that a process holds until it `is_over`: until whoever calls drops its end.
fn peak_of(process: Process, is_over: &Receiver<()>) -> anyhow::Result<f64> {
    let mut peak: f64 = 0.0;
    while is_over.recv_timeout(GLANCE) == Err(RecvTimeoutError::Timeout) {
        peak = peak.max(process.memory("smaps_rollup", "Pss")?);
    }
    Ok(peak)
}
