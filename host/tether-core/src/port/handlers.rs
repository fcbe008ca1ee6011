//! The handlers behind the tools.

use std::sync::Arc;

use crate::allowance::Allowance;
use crate::digest::Digest;
use crate::failure::Failure;
use crate::grant::Binding;
use crate::id::{RequestId, TenantId, ToolName};
use crate::invocation::Invocation;
use crate::json::JsonText;
use crate::port::BoxFuture;
use crate::port::databases::{NotNow, Record, Unreachable};
use crate::port::journal::Journal;
use crate::tool::Offer;

/// How one attempt of a write ended, before the records were asked.
#[derive(Debug)]
pub struct WriteReport {
    /// What `invoke` returned, or why it did not.
    pub result: Result<JsonText, Failure>,
    /// Whether the handler began the main transaction of a database: then only a
    /// main record makes its `ok` a success.
    pub began_main: bool,
}

/// Why a bound write cannot run any more, for the person who wanted it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Outdated(pub String);

/// The handlers of a host.
pub trait Handlers: Send + Sync + 'static {
    /// Every tool, ordered by name.
    fn offers(&self) -> Vec<Arc<Offer>>;

    /// The tool of this name.
    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>>;

    /// Whether what an action is bound to is still there and still the same. An
    /// error means that this cannot be told now, or that there is no room for a write.
    fn fits<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>>;

    /// One sentence about the write that `invocation` would be, with a read's
    /// rights.
    fn preview<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>>;

    /// One attempt of a read; what it sends is repeated out of `allowance`. Dropping
    /// it cancels it.
    fn read<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>>;

    /// One attempt of a confirmed write; what it sends is noted in `journal` first,
    /// and sent once.
    fn write<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport>;

    /// Every record that the write left, in all databases that it was bound to;
    /// a COMMIT that was issued has ended when this answers.
    fn records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>>;

    /// Empties those records; they stay.
    fn empty_records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>>;

    /// Lets go of kept components that are neither configured nor `needed`.
    fn retain(&self, needed: &[Digest]);
}
