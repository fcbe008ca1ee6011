//! What one call may take of the machine's memory.

use wasmtime::ResourceLimiter;

use crate::machine::TABLE_ELEMENTS;

/// Why the host stopped a guest: it took more than it may.
#[derive(Debug, thiserror::Error)]
#[error("the handler reached the limit of {0}")]
pub(crate) struct LimitReached(pub(crate) String);

/// Counts the memory of one call, and stops it where it wants more than it may.
///
/// A guest that asks for too much is stopped at once, rather than told that
/// there is no memory: few languages survive that answer, and the caller shall
/// read which limit it was, not that something trapped.
pub(crate) struct Limits {
    max_memory: usize,
    memory: usize,
}

impl Limits {
    pub(crate) fn new(max_memory: usize) -> Self {
        Self { max_memory, memory: 0 }
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let memory = (self.memory - current).saturating_add(desired);
        if memory > self.max_memory {
            return Err(LimitReached(format!("{} bytes of memory", self.max_memory)).into());
        }
        self.memory = memory;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS {
            return Err(LimitReached(format!("{TABLE_ELEMENTS} elements of a table")).into());
        }
        Ok(true)
    }
}
