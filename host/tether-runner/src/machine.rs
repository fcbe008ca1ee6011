//! The engine that every guest runs on, set up once.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::bindings::Tool;
use crate::guest::Guest;
use crate::imports::{wasi_http, wasi_poll};
use crate::settings::Settings;

/// How often a guest that computes gives others a turn; its time limit is kept
/// to about this.
const TICK: Duration = Duration::from_millis(10);

/// Of the fiber on which a guest runs, kept for the host's own functions: they
/// parse JSON and check schemas there.
const HOST_STACK: usize = 2 << 20;

/// Core instances and memories of one component: some are made of several
/// modules, each with a shim or two.
const CORE_INSTANCES: u32 = 64;
const MEMORIES: u32 = 4;
const TABLES: u32 = 16;

/// Entries of one table.
pub(crate) const TABLE_ELEMENTS: usize = 20_000;

/// Bytes of a memory, a table and a stack that are wiped when a call is over, rather
/// than given back to the system: what a small guest touches is mapped once, and not at
/// each call.
const KEPT_MEMORY: usize = 512 << 10;
const KEPT_TABLE: usize = 16 << 10;
const KEPT_STACK: usize = 16 << 10;

/// Where guests run: the engine, what it offers them, and how many it takes.
pub(crate) struct Machine {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<Guest>,
    pub(crate) settings: Settings,
    slots: Arc<Semaphore>,
}

impl Machine {
    pub(crate) fn new(settings: Settings) -> wasmtime::Result<Self> {
        let engine = Engine::new(&config(&settings))?;
        let linker = linker(&engine)?;
        start_ticking(&engine)?;
        let slots = Arc::new(Semaphore::new(settings.max_instances as usize));
        Ok(Self { engine, linker, settings, slots })
    }

    /// A place in the pool. It is held until the store is gone, so that the pool
    /// always has what is asked of it.
    pub(crate) async fn slot(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.slots).acquire_owned().await
    }
}

fn config(settings: &Settings) -> Config {
    let most = settings.max_instances;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(most)
        .total_stacks(most)
        .total_core_instances(most.saturating_mul(CORE_INSTANCES))
        .total_memories(most.saturating_mul(MEMORIES))
        .total_tables(most.saturating_mul(TABLES))
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(4)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(settings.max_memory_bytes)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        .async_stack_keep_resident(KEPT_STACK)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .epoch_interruption(true)
        .max_wasm_stack(settings.max_stack_bytes)
        .async_stack_size(settings.max_stack_bytes + HOST_STACK)
        // Stacks are pooled: no call shall find another tenant's leavings.
        .async_stack_zeroing(true);
    config
}

/// WASI is linked whole, so that the runtimes of ordinary languages start; what
/// it grants is decided for each call, and is next to nothing.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasi_poll::add_to_linker(&mut linker)?;
    wasi_http::add_to_linker(&mut linker)?;
    Tool::add_to_linker::<_, HasSelf<_>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

/// Advances the engine's epoch until the engine is gone.
#[expect(clippy::disallowed_methods, reason = "a thread of its own, which does nothing but wait")]
fn start_ticking(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    thread::Builder::new().name("tether-ticks".into()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    })?;
    Ok(())
}
