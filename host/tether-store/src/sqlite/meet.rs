//! Where those who wait for a sync meet. The model checker in `tests/interleavings` compiles
//! [`syncs`](super::databases) with its own in place of this module.

pub(crate) use std::fs::File;
pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::{Mutex, MutexGuard};

pub(crate) use tokio::task::spawn_blocking;
