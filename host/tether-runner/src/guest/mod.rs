//! One attempt: a fresh instance, what it may use, and its end.

use std::time::Duration;

use tether_core::failure::{Cause, Failure};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::bindings::{Tool, ToolPre};
use crate::machine::Machine;
use call::Call;
use limits::Limits;
use output::{Speaker, streams};

pub(crate) mod call;
mod ending;
mod limits;
mod output;

pub(crate) use ending::told;
pub(crate) use output::Speaker as GuestName;

/// Bytes that a guest may hand to the host in one call of an import, or as its
/// answer: a statement of the largest size with its parameters, with room for
/// how they are laid out.
const MAX_HANDED_OVER: usize = 32 << 20;

/// Everything of one attempt that the host holds. It dies with the attempt.
pub(crate) struct Guest {
    // Before the session that its transactions belong to.
    pub(crate) table: ResourceTable,
    call: Option<Call>,
    wasi: WasiCtx,
    limits: Limits,
}

/// An import of ours was called while the component was asked what it offers.
#[derive(Debug, thiserror::Error)]
#[error("imports are not available in describe")]
pub(crate) struct NotInDescribe;

impl Guest {
    fn new(machine: &Machine, speaker: Speaker, call: Option<Call>) -> Self {
        let (stdout, stderr) = streams(speaker);
        let mut table = ResourceTable::new();
        table.set_max_capacity(machine.settings.max_handles);
        // Clocks and random numbers work; files, environment and arguments are
        // empty by default, and so are the addresses that may be reached.
        let wasi = WasiCtx::builder()
            .stdout(stdout)
            .stderr(stderr)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .max_random_size(1 << 20)
            .build();
        Self { table, call, wasi, limits: Limits::new(machine.settings.max_memory_bytes) }
    }

    /// The call that this is an attempt of; a trap while there is none.
    pub(crate) fn call(&mut self) -> Result<&mut Call, wasmtime::Error> {
        self.call.as_mut().ok_or_else(|| NotInDescribe.into())
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// A component's instance, made for one attempt.
pub(crate) struct Attempt {
    pub(crate) tool: Tool,
    pub(crate) store: Store<Guest>,
    // Last: the place is free once the store has left it.
    _slot: OwnedSemaphorePermit,
}

impl Attempt {
    /// Waits for a place and makes an instance there. Without `call`, every import
    /// of ours traps.
    pub(crate) async fn begin(
        machine: &Machine,
        component: &ToolPre<Guest>,
        speaker: Speaker,
        call: Option<Call>,
    ) -> wasmtime::Result<Self> {
        let slot = machine.slot().await?;
        let mut store = Store::new(&machine.engine, Guest::new(machine, speaker, call));
        store.limiter(|guest| &mut guest.limits);
        store.set_hostcall_fuel(MAX_HANDED_OVER);
        // At each tick the guest gives way to the executor, which is where the
        // clock of `within` is looked at: a guest that computes and one that
        // waits end in the same way.
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let tool = component.instantiate_async(&mut store).await?;
        Ok(Self { tool, store, _slot: slot })
    }

    /// What the guest said is a failure; what the host knows may explain it.
    pub(crate) fn explain(&mut self, told: Failure) -> Failure {
        match self.store.data_mut().call() {
            Ok(call) => call.explain(told),
            Err(_) => told,
        }
    }
}

/// Runs an attempt for at most `time`. Whatever its end, nothing of it is left.
pub(crate) async fn within<T>(
    machine: &Machine,
    time: Duration,
    attempt: impl Future<Output = wasmtime::Result<T>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(time, attempt).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(ending::failure(&error, &machine.settings)),
        Err(_) => {
            let message = format!("the handler was not done after {} ms", time.as_millis());
            Err(Failure::new(Cause::TimedOut, message))
        }
    }
}
