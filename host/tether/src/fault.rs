//! What happens at core's fault points, in builds with debug assertions.
//!
//! `TETHER_FAULT=claimed` halts the process where a confirmed write comes to that
//! point, and says so on standard error. A test then kills it, as a machine dies:
//! without a chance to finish anything.

use std::sync::OnceLock;

use tether_core::fault::{self, Point};

static HALT_AT: OnceLock<String> = OnceLock::new();

/// Obeys `TETHER_FAULT`, if it is set.
pub(crate) fn obey_environment() {
    if let Ok(point) = std::env::var("TETHER_FAULT") {
        let _ = HALT_AT.set(point);
        fault::install(halt);
    }
}

fn halt(point: Point) {
    if HALT_AT.get().is_some_and(|name| name == point.as_str()) {
        eprintln!("fault: {}", point.as_str());
        loop {
            std::thread::park();
        }
    }
}
