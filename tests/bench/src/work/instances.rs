//! What a fresh instance for each call costs: on wasmtime as the server has it, with
//! neither gateway nor HTTP around it.

use std::time::Instant;

use anyhow::anyhow;
use tokio::runtime::Builder;

use crate::component::Guest;
use crate::guests::{Made, javascript, python};
use crate::rounds::interleaved;
use crate::stage::Stage;
use crate::table::{Goal, Table};

const BESIDE: &str = "calling a kept instance";
const UNIT: &str = "µs";

/// Calls of a round.
const ROUND: u32 = 200;

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let rust = Ok(stage.component("probe")?.to_owned());
    compare(stage, table, "Rust", rust, "probe_echo")?;
    compare(stage, table, "JavaScript", javascript(stage)?, "js_echo")?;
    compare(stage, table, "Python", python(stage)?, "py_echo")
}

fn compare(stage: &Stage, table: &mut Table, language: &str, made: Made, tool: &str) -> anyhow::Result<()> {
    let work = format!("fresh instance and call of a {language} handler");
    let component = match made {
        Ok(component) => component,
        Err(why) => {
            table.skip(&work, BESIDE, UNIT, Goal::None, why);
            return Ok(());
        }
    };
    let guest = told(Guest::load(&component, tool, &stage.kept("compiled")))?;
    let runtime = Builder::new_current_thread().build()?;
    let mut kept = told(runtime.block_on(guest.instance()))?;
    let mut fresh = || {
        let begin = Instant::now();
        for _ in 0..ROUND {
            told(runtime.block_on(async { guest.instance().await?.call().await }))?;
        }
        Ok(micros(begin))
    };
    let mut kept = || {
        let begin = Instant::now();
        for _ in 0..ROUND {
            told(runtime.block_on(kept.call()))?;
        }
        Ok(micros(begin))
    };
    let [fresh, kept] = interleaved(stage.rounds(), [&mut fresh, &mut kept])?;
    table.add(&work, fresh, Some((BESIDE, kept)), UNIT, Goal::None);
    Ok(())
}

/// Wasmtime's errors are of a kind of their own.
fn told<T>(result: wasmtime::Result<T>) -> anyhow::Result<T> {
    result.map_err(|error| anyhow!("{error:#}"))
}

/// Of one call.
fn micros(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(ROUND)
}
