//! Where tasks meet. The model checker in `tests/interleavings` compiles this crate with
//! its own in place of this module, and with nothing else in place of anything.

pub(crate) use std::sync::{Mutex, MutexGuard};

pub(crate) use tokio::spawn;
pub(crate) use tokio::sync::{AcquireError, Notify, OwnedSemaphorePermit, Semaphore, oneshot};
