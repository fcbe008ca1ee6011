//! Tools behind a URL, that speak the tool endpoint's protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::retry::Allowance;
use tether_core::tool::{Offer, Tool};

use crate::outbound::Outbound;

/// One endpoint, as the operator configures it.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// Where it is: `http` or `https`, without user, query and fragment. Any address:
    /// it is the operator's own.
    pub url: String,
    /// Headers that go with each call: names, and values in which `${NAME}` stands for
    /// a secret.
    pub headers: BTreeMap<String, String>,
    /// The header that carries the key there, besides `X-Tether-Idempotency-Key`.
    pub key_header: Option<String>,
    /// The tools that it offers.
    pub tools: Vec<Tool>,
}

/// An endpoint that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidEndpoint(String);

/// The handlers behind URLs.
pub struct Endpoints(Vec<Arc<Offer>>);

impl Endpoints {
    /// The tools of `endpoints`, whose outputs may be `max_response_bytes` long.
    pub fn new(
        outbound: &Outbound,
        endpoints: Vec<EndpointSettings>,
        max_response_bytes: usize,
    ) -> Result<Self, InvalidEndpoint> {
        let _ = (outbound, endpoints, max_response_bytes);
        Ok(Self(Vec::new()))
    }
}

impl Handlers for Endpoints {
    fn offers(&self) -> Vec<Arc<Offer>> {
        self.0.clone()
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.0.iter().find(|offer| offer.tool.name == *tool).cloned()
    }

    fn fits<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, Unreachable>> {
        Box::pin(async { Ok(Err(Outdated(String::new()))) })
    }

    fn preview<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    fn read<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async { Err(Failure::new(Cause::Failed, "nothing is sent yet")) })
    }

    fn write<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        let result = Err(Failure::new(Cause::Failed, "nothing is sent yet"));
        Box::pin(async { WriteReport { result, began_main: false } })
    }

    fn records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn empty_records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async { Ok(()) })
    }

    fn retain(&self, _: &[Digest]) {}
}
