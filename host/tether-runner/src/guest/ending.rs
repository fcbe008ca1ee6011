//! How an attempt ended, in the host's words.

use std::time::Duration;

use tether_core::failure::{Cause, Failure};
use wasmtime::component::ResourceTableError;
use wasmtime::{Error, PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use super::NotInDescribe;
use super::limits::LimitReached;
use crate::bindings::tether::tool::types::{Fault, ToolError};
use crate::settings::Settings;
use tether_core::plain::plain;

/// Characters of a handler's own code and of its message.
const MAX_CODE: usize = 64;
const MAX_MESSAGE: usize = 1_000;

/// The failure behind an end that the guest did not choose. Its message names
/// the kind of end and nothing that the guest held.
pub(super) fn failure(error: &Error, settings: &Settings) -> Failure {
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        tracing::debug!(target: "tether::guest", "{backtrace}");
    }
    let limit = |limit: String| Failure::new(Cause::Limit, LimitReached(limit).to_string());
    let trapped = |how: &str| Failure::new(Cause::Trapped, format!("the handler trapped: {how}"));
    if let Some(reached) = error.downcast_ref::<LimitReached>() {
        return Failure::new(Cause::Limit, reached.to_string());
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref() {
        return limit(format!("{} open handles", settings.max_handles));
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return limit("instances at a time".into());
    }
    if error.is::<NotInDescribe>() {
        return trapped("imports are not available in describe");
    }
    if let Some(I32Exit(status)) = error.downcast_ref() {
        return trapped(&format!("it exited with status {status}"));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => limit(format!("{} bytes of stack", settings.max_stack_bytes)),
        Some(trap) => trapped(trap.to_string().trim_start_matches("wasm trap: ")),
        // These two have no type of their own.
        None => match error.root_cause().to_string() {
            cause if cause.starts_with("too much data is being copied") => {
                limit(format!("{} bytes handed to the host at once", super::MAX_HANDED_OVER))
            }
            cause if cause.starts_with("cannot allocate another handle") => limit("open handles".into()),
            _ => trapped("it broke the rules of components"),
        },
    }
}

/// The failure that a guest told.
pub(crate) fn told(error: ToolError) -> Failure {
    match error {
        ToolError::InvalidArguments(message) => {
            Failure::new(Cause::InvalidArguments, plain(message.trim(), MAX_MESSAGE))
        }
        ToolError::Refused(fault) => with_fault(Cause::Refused, fault),
        ToolError::Transient(fault) => with_fault(Cause::Transient, fault),
        ToolError::Failed(fault) => with_fault(Cause::Failed, fault),
    }
}

fn with_fault(cause: Cause, fault: Fault) -> Failure {
    Failure {
        cause,
        handler_code: Some(plain(fault.code.trim(), MAX_CODE)).filter(|code| !code.is_empty()),
        message: plain(fault.message.trim(), MAX_MESSAGE),
        retry_after: fault.retry_after_ms.map(|millis| Duration::from_millis(millis.into())),
    }
}
