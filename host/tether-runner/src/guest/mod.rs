//! One attempt: a fresh instance, what it may use, and its end.

use tether_core::failure::Failure;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::bindings::{Tool, ToolPre};
use crate::machine::Machine;
use call::Call;
use limits::Limits;
use output::{Speaker, streams};
use stopwatch::Mark;

pub(crate) mod call;
mod ending;
mod limits;
mod output;
pub(crate) mod stopwatch;
pub(crate) mod time;
pub(crate) mod traffic;
pub(crate) mod trouble;

pub(crate) use ending::told;
pub(crate) use output::Speaker as GuestName;

/// Bytes that a guest may hand to the host in one call of an import, or as its
/// answer: a statement of the largest size with its parameters, with room for
/// how they are laid out. The configuration lets requests be half as large.
const MAX_HANDED_OVER: usize = 32 << 20;

/// Bytes of one set of headers in `wasi:http`, as the host holds them.
const MAX_HEADERS: usize = 64 << 10;

/// Everything of one attempt that the host holds. It dies with the attempt.
pub(crate) struct Guest {
    // Before the session that its transactions belong to.
    pub(crate) table: ResourceTable,
    errand: Errand,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    limits: Limits,
}

/// What a guest is there for.
pub(crate) enum Errand {
    /// To say what it offers: no import does anything.
    Describe,
    /// One attempt of a call.
    Call(Box<Call>),
}

/// An import of ours was called while the component was asked what it offers.
#[derive(Debug, thiserror::Error)]
#[error("imports are not available in describe")]
pub(crate) struct NotInDescribe;

impl Guest {
    fn new(machine: &Machine, speaker: Speaker, errand: Errand) -> Self {
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
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_HEADERS);
        Self { table, errand, wasi, http, limits: Limits::new(machine.settings.max_memory_bytes) }
    }

    /// The call that this is an attempt of; a trap while there is none.
    pub(crate) fn call(&mut self) -> Result<&mut Call, wasmtime::Error> {
        match &mut self.errand {
            Errand::Call(call) => Ok(call),
            Errand::Describe => Err(NotInDescribe.into()),
        }
    }

    /// The guest waits in the host while the mark is alive.
    pub(crate) fn parks(&self) -> Option<Mark> {
        match &self.errand {
            Errand::Call(call) => call.traffic.parks(),
            Errand::Describe => None,
        }
    }
}

impl Drop for Guest {
    /// Before anything of it goes: the body of a request that it did not finish would
    /// look finished then.
    fn drop(&mut self) {
        if let Errand::Call(call) = &self.errand {
            call.traffic.end();
        }
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.errand }
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
    /// Waits for a place and makes an instance there.
    pub(crate) async fn begin(
        machine: &Machine,
        component: &ToolPre<Guest>,
        speaker: Speaker,
        errand: Errand,
    ) -> wasmtime::Result<Self> {
        let slot = machine.slot().await?;
        let mut store = Store::new(&machine.engine, Guest::new(machine, speaker, errand));
        store.limiter(|guest| &mut guest.limits);
        store.set_hostcall_fuel(MAX_HANDED_OVER);
        // At each tick the guest gives way to the executor, which is where the
        // clocks of `Time` are looked at: a guest that computes and one that
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
