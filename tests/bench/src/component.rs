//! A component on wasmtime as the server has it, without the server.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, ComponentType, InstancePre, Lift, Linker, Lower, ResourceTable, ResourceType, TypedFunc,
};
use wasmtime::error::Context;
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store, bail, format_err,
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

const HANDLER: &str = "tether:tool/handler@0.1.0";

/// A component, compiled and linked.
pub(crate) struct Guest {
    engine: Engine,
    code: InstancePre<Host>,
    tool: String,
}

/// An instance of it.
pub(crate) struct Instance {
    store: Store<Host>,
    invoke: TypedFunc<(Invocation,), (Result<String, ToolError>,)>,
    invocation: Invocation,
}

struct Host {
    table: ResourceTable,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    nowhere: Nowhere,
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Host {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.nowhere }
    }
}

/// Where requests go.
struct Nowhere;

type Processed = Box<dyn Future<Output = std::result::Result<(), Error>> + Send>;

impl WasiHttpHooks for Nowhere {
    fn send_request(
        &mut self,
        _: http::Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Processed,
    ) -> Box<dyn Future<Output = std::result::Result<(http::Response<WasiBody>, Processed), Error>> + Send>
    {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}

/// What the contract calls so.
#[derive(Clone, ComponentType, Lower)]
#[component(record)]
struct Invocation {
    #[component(name = "request-id")]
    request_id: String,
    tool: String,
    tenant: String,
    user: String,
    arguments: String,
    attempt: u32,
    #[component(name = "timeout-ms")]
    timeout_ms: u32,
}

#[derive(Debug, ComponentType, Lift)]
#[component(variant)]
#[expect(dead_code, reason = "shown whole, as it is printed for debugging")]
enum ToolError {
    #[component(name = "invalid-arguments")]
    InvalidArguments(String),
    #[component(name = "refused")]
    Refused(Fault),
    #[component(name = "transient")]
    Transient(Fault),
    #[component(name = "failed")]
    Failed(Fault),
}

#[derive(Debug, ComponentType, Lift)]
#[component(record)]
#[expect(dead_code, reason = "as above")]
struct Fault {
    code: String,
    message: String,
    #[component(name = "retry-after-ms")]
    retry_after_ms: Option<u32>,
}

impl Guest {
    /// Compiles a component, or takes what was compiled of it before from `cache`. The
    /// tool must be one that asks nothing of the host.
    pub(crate) fn load(component: &Path, tool: &str, cache: &Path) -> Result<Self> {
        let engine = Engine::new(&config())?;
        let code = compiled(&engine, component, cache)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
        refuse(&mut linker, &code)?;
        let code = linker.instantiate_pre(&code)?;
        Ok(Self { engine, code, tool: tool.into() })
    }

    /// Makes an instance.
    pub(crate) async fn instance(&self) -> Result<Instance> {
        let host = Host {
            table: ResourceTable::new(),
            wasi: WasiCtx::builder().build(),
            http: WasiHttpCtx::new(),
            nowhere: Nowhere,
        };
        let mut store = Store::new(&self.engine, host);
        store.set_epoch_deadline(u64::MAX / 2);
        let instance = self.code.instantiate_async(&mut store).await?;
        let handler = instance.get_export_index(&mut store, None, HANDLER).context("it is no handler")?;
        let invoke =
            instance.get_export_index(&mut store, Some(&handler), "invoke").context("it invokes nothing")?;
        let invoke = instance.get_typed_func(&mut store, invoke)?;
        let invocation = Invocation {
            request_id: "0123456789abcdef0123456789abcdef".into(),
            tool: self.tool.clone(),
            tenant: "default".into(),
            user: "operator".into(),
            arguments: r#"{"ticket_id":42}"#.into(),
            attempt: 1,
            timeout_ms: 20_000,
        };
        Ok(Instance { store, invoke, invocation })
    }
}

impl Instance {
    /// Calls the tool.
    pub(crate) async fn call(&mut self) -> Result<()> {
        let invocation = self.invocation.clone();
        let (result,) = self.invoke.call_async(&mut self.store, (invocation,)).await?;
        result.map(drop).map_err(|error| format_err!("the tool failed: {error:?}"))
    }
}

/// As the runner has it by default.
fn config() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.max_core_instances_per_component(64)
        .max_memories_per_component(4)
        .max_tables_per_component(16)
        .max_tables_per_module(4)
        .table_elements(20_000)
        .max_memory_size(128 << 20)
        .linear_memory_keep_resident(512 << 10)
        .table_keep_resident(16 << 10)
        .async_stack_keep_resident(64 << 10);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .epoch_interruption(true)
        .max_wasm_stack(512 << 10)
        .async_stack_size((512 << 10) + (2 << 20))
        .async_stack_zeroing(true);
    config
}

/// Links what our contract offers to components; whoever calls it, traps.
fn refuse(linker: &mut Linker<Host>, code: &Component) -> Result<()> {
    let engine = linker.engine().clone();
    for (name, import) in code.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(interface) = import.ty else { continue };
        if !name.starts_with("tether:tool/") {
            continue;
        }
        let mut instance = linker.instance(name)?;
        for (name, export) in interface.exports(&engine) {
            match export.ty {
                ComponentItem::ComponentFunc(_) => instance.func_new(name, |_, _, _, _| bail!("not here"))?,
                ComponentItem::Resource(_) => {
                    instance.resource(name, ResourceType::host::<()>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn compiled(engine: &Engine, component: &Path, cache: &Path) -> Result<Component> {
    let bytes = fs::read(component)?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let kept = cache.join(format!("{:016x}.cwasm", hasher.finish()));
    if kept.is_file() {
        // SAFETY: the file is what `Component::serialize` returned: only the lines below
        // write into this folder, and a file gets its name once it is whole.
        return unsafe { Component::deserialize_file(engine, &kept) };
    }
    let code = Component::from_binary(engine, &bytes)?;
    fs::create_dir_all(cache)?;
    let draft = kept.with_extension("draft");
    fs::write(&draft, code.serialize()?)?;
    fs::rename(&draft, &kept)?;
    Ok(code)
}
