//! What every component may use of the machine, and where the host keeps it.

use std::path::PathBuf;
use std::time::Duration;

/// The runner's limits. Each is the same for every component.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The host's data folder. `components` and `cache` in it are the runner's.
    pub data_dir: PathBuf,
    /// Bytes of linear memory of one call, all its memories together.
    pub max_memory_bytes: usize,
    /// Bytes of stack of one call.
    pub max_stack_bytes: usize,
    /// Bytes of one output; nothing is ever cut to fit.
    pub max_response_bytes: usize,
    /// Calls that run at the same time. The gateway lets no more in; a further one
    /// would wait for its place out of its own time.
    pub max_instances: u32,
    /// Handles (connections, transactions, streams, …) that one call may hold.
    pub max_handles: usize,
    /// How long `describe` may take when a component is loaded.
    pub describe_time: Duration,
}

impl Settings {
    /// The defaults, with this data folder: 128 MiB of memory, 512 KiB of stack,
    /// outputs of 262,144 bytes, 256 calls at a time, 1,000 handles, 10 s to
    /// describe.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            max_memory_bytes: 128 << 20,
            max_stack_bytes: 512 << 10,
            max_response_bytes: 262_144,
            max_instances: 256,
            max_handles: 1_000,
            describe_time: Duration::from_secs(10),
        }
    }
}
