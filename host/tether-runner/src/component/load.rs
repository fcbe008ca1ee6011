//! From bytes to a component that can be run.

use std::sync::Arc;

use tether_core::digest::Digest;
use tether_core::grant::{BoundComponent, Grants};
use tether_core::id::ComponentName;
use wasmtime::Engine;
use wasmtime::component::Component as Code;

use super::error::LoadProblem;
use super::kept::Kept;
use super::{Component, manifest};
use crate::bindings::tether::tool::types::Manifest;
use crate::bindings::{Tool, ToolPre};
use crate::guest::time::Time;
use crate::guest::{Attempt, Errand, Guest, GuestName};
use crate::machine::Machine;

/// The interface that makes a component one of ours, in any version.
const HANDLER: &str = "tether:tool/handler@";

/// Compiles `bytes` (or finds them compiled), links them, and asks what they
/// offer. Compiling blocks, and is done on a thread for that.
pub(crate) async fn load(
    machine: &Arc<Machine>,
    kept: &Arc<Kept>,
    name: ComponentName,
    bytes: Vec<u8>,
    grants: Grants,
) -> Result<Component, LoadProblem> {
    check_kind(&bytes)?;
    let digest = Digest::of(&bytes);
    let (engine, store) = (machine.engine.clone(), Arc::clone(kept));
    let compiling = tokio::task::spawn_blocking(move || compile(&engine, &store, digest, &bytes));
    let code = compiling.await.map_err(|error| LoadProblem::Invalid(error.to_string()))??;
    let imports = code.component_type().imports(&machine.engine).map(|(name, _)| name.to_owned()).collect();
    let code = link(machine, &code)?;
    let binding = BoundComponent { component: name, digest, grants };
    let described = describe(machine, &code, &binding.component).await?;
    let max_output = machine.settings.max_response_bytes;
    Ok(Component {
        tools: manifest::tools(described.tools, &binding, max_output).map_err(LoadProblem::Manifest)?,
        migrations: manifest::migrations(described.migrations, &binding).map_err(LoadProblem::Manifest)?,
        binding,
        code,
        imports,
    })
}

/// Whether the first bytes are those of a component: the magic number, then the
/// version and the layer.
fn check_kind(bytes: &[u8]) -> Result<(), LoadProblem> {
    match bytes {
        [0, b'a', b's', b'm', version @ ..] => match version {
            [1, 0, 0, 0, ..] => Err(LoadProblem::CoreModule),
            [_, _, 1, 0, ..] => Ok(()),
            _ => Err(LoadProblem::Invalid("it ends too soon, or is of an unknown version".into())),
        },
        _ => Err(LoadProblem::NotWasm),
    }
}

fn compile(engine: &Engine, kept: &Kept, digest: Digest, bytes: &[u8]) -> Result<Code, LoadProblem> {
    if let Some(code) = kept.compiled(engine, digest) {
        return Ok(code);
    }
    let code = Code::from_binary(engine, bytes)
        .map_err(|error| LoadProblem::Invalid(error.root_cause().to_string()))?;
    kept.keep_compiled(digest, &code);
    Ok(code)
}

fn link(machine: &Machine, code: &Code) -> Result<ToolPre<Guest>, LoadProblem> {
    let kind = code.component_type();
    if !kind.exports(&machine.engine).any(|(name, _)| name.starts_with(HANDLER)) {
        return Err(LoadProblem::NoHandler(String::new()));
    }
    let instance = machine.linker.instantiate_pre(code).map_err(|error| {
        // "component imports instance `wasi:keyvalue/store@0.2.0`, but …": the name
        // is all that matters to the reader.
        let text = error.to_string();
        let name = text.split('`').nth(1).unwrap_or(&text).to_owned();
        LoadProblem::MissingImport(name)
    })?;
    ToolPre::new(instance).map_err(|error| LoadProblem::NoHandler(format!(" ({})", error.root_cause())))
}

async fn describe(
    machine: &Machine,
    code: &ToolPre<Guest>,
    name: &ComponentName,
) -> Result<Manifest, LoadProblem> {
    let speaker = GuestName { request_id: "describe".into(), tool: name.to_string(), arguments: None };
    let time = Time::for_everything(machine.settings.describe_time);
    let attempt = async {
        let Attempt { tool, store, .. } =
            &mut Attempt::begin(machine, code, speaker, Errand::Describe).await?;
        let tool: &Tool = tool;
        tool.tether_tool_handler().call_describe(store).await
    };
    time.within(machine, attempt).await.map_err(|failure| LoadProblem::Describe(failure.message))
}
