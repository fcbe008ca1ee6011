//! Tools behind a URL, that speak the tool endpoint's protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tether_core::allowance::Allowance;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::tool::{Offer, Tool};

use crate::heavy::heavy;
use crate::outbound::once::{Noting, once};
use crate::outbound::parcel::{Cap, Cut};
use crate::outbound::passage::Passage;
use crate::outbound::repeat::{in_time, too_late};
use crate::outbound::{Outbound, Response};
use crate::retry_after;
use remote::{Remote, RemoteTool};

mod answer;
mod remote;

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

/// An endpoint that cannot be; the text says which and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidEndpoint(String);

/// The handlers behind URLs. They keep their own records, by the key that each call
/// carries; here is none.
pub struct Endpoints {
    outbound: Outbound,
    tools: BTreeMap<ToolName, RemoteTool>,
    cap: Cap,
}

impl Endpoints {
    /// The tools of `endpoints`, whose outputs may be `max_response_bytes` long. An
    /// error where an endpoint's URL, headers or schemas are none, a secret is missing,
    /// or two tools have one name.
    pub fn new(
        outbound: &Outbound,
        endpoints: Vec<EndpointSettings>,
        max_response_bytes: usize,
    ) -> Result<Self, InvalidEndpoint> {
        let mut tools = BTreeMap::new();
        let mut twice = BTreeSet::new();
        for endpoint in endpoints {
            for tool in Remote::tools(outbound, endpoint)? {
                let name = tool.offer.tool.name.clone();
                if tools.insert(name.clone(), tool).is_some() {
                    twice.insert(name);
                }
            }
        }
        match twice.first() {
            Some(name) => {
                Err(InvalidEndpoint(format!("the tool {name} is offered twice; a name is one tool's")))
            }
            None => {
                let cap = Cap { bytes: max_response_bytes, cut: Cut::Failures };
                Ok(Self { outbound: outbound.clone(), tools, cap })
            }
        }
    }

    /// The tool that was bound, if it is still the same.
    fn bound(&self, tool: &ToolName, binding: &Binding) -> Result<&RemoteTool, Failure> {
        let tool = self.tools.get(tool).filter(|tool| tool.offer.binding == *binding);
        tool.ok_or_else(|| Failure::new(Cause::Failed, "the endpoint or the tool is no longer configured so"))
    }

    /// One try, in the time that a try has: the gateway repeats it out of the same
    /// allowance.
    async fn try_read(
        &self,
        binding: &Binding,
        invocation: &Invocation,
        allowance: &Allowance,
    ) -> Result<JsonText, Failure> {
        let tool = self.bound(&invocation.tool, binding)?;
        let parcel = tool.remote.parcel(invocation, self.outbound.secrets());
        let parcel = parcel.map_err(|reason| Failure::new(Cause::Denied, reason))?;
        let origin = parcel.origin();
        let passage = Arc::<Passage>::default();
        let call = self.outbound.read(&tool.remote.lane, parcel, self.cap, passage.clone());
        let answered = in_time(allowance, &origin, &passage, call).await;
        let answered = answered.map_err(|late| Failure::new(Cause::TimedOut, late.to_string()))?;
        let response = answered.map_err(answer::not_answered)?;
        self.output(tool, response).await
    }

    /// What the answer comes to.
    async fn output(&self, tool: &RemoteTool, response: Response) -> Result<JsonText, Failure> {
        let wait = retry_after::of(&response, self.outbound.now());
        let (size, schema) = (response.body().len(), tool.output.clone());
        heavy(size, move || answer::output(&response, schema.as_deref(), wait)).await
    }

    async fn write_once(
        &self,
        binding: &Binding,
        invocation: &Invocation,
        journal: &dyn Journal,
    ) -> Result<JsonText, Failure> {
        let tool = self.bound(&invocation.tool, binding)?;
        let parcel = tool.remote.parcel(invocation, self.outbound.secrets());
        let parcel = parcel.map_err(|reason| Failure::new(Cause::Denied, reason))?;
        let origin = parcel.origin();
        let passage = Arc::<Passage>::default();
        let noting = Noting { journal, step: None, passage: passage.clone() };
        let call = once(&self.outbound, &tool.remote.lane, parcel, self.cap, noting);
        // Dropped when the time is over, it tells the journal whether it can have left.
        let Ok(answered) = tokio::time::timeout(invocation.timeout, call).await else {
            let late = too_late(&origin, &passage, invocation.timeout);
            return Err(Failure::new(Cause::TimedOut, late.to_string()));
        };
        let response = answered.map_err(answer::not_answered)?;
        self.output(tool, response).await
    }
}

impl Handlers for Endpoints {
    fn offers(&self) -> Vec<Arc<Offer>> {
        self.tools.values().map(|tool| tool.offer.clone()).collect()
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.tools.get(tool).map(|tool| tool.offer.clone())
    }

    fn fits<'a>(
        &'a self,
        _: &'a TenantId,
        binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async move {
            let is_there = self.tools.values().any(|tool| tool.offer.binding == *binding);
            let outdated = || match binding {
                Binding::Endpoint(bound) => {
                    Outdated(format!("the tool at {} was changed or taken away since", bound.url))
                }
                Binding::Component(bound) => Outdated(format!("{} is no endpoint", bound.component)),
            };
            Ok(if is_there { Ok(()) } else { Err(outdated()) })
        })
    }

    /// The protocol knows none.
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
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async move { self.try_read(binding, &invocation, &allowance).await })
    }

    fn write<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        Box::pin(async move {
            let result = self.write_once(binding, &invocation, journal.as_ref()).await;
            WriteReport { result, began_main: false }
        })
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
