//! The ways in which a call can end.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use tether_sdk::prelude::*;

/// Ends the call as `how` says: `ok`, `trap`, `spin`, `sleep:MILLISECONDS` (and
/// then `ok`), `transient`, `refuse` or `fail`.
pub fn end(how: &str) -> Result<(), ToolError> {
    match how {
        "ok" => Ok(()),
        "trap" => panic!("told to trap"),
        "spin" => spin(),
        "transient" => Err(transient("PROBE_TRANSIENT", "told to be transient")),
        "refuse" => Err(refused("PROBE_REFUSED", "told to refuse")),
        "fail" => Err(failed("PROBE_FAILED", "told to fail")),
        other => match other.strip_prefix("sleep:").map(str::parse) {
            Some(Ok(milliseconds)) => {
                thread::sleep(Duration::from_millis(milliseconds));
                Ok(())
            }
            _ => Err(invalid_arguments(format!("no end of a call is called {other:?}"))),
        },
    }
}

/// Computes without end.
pub fn spin() -> ! {
    let mut steps = 0_u64;
    loop {
        steps = black_box(steps.wrapping_add(1));
    }
}
