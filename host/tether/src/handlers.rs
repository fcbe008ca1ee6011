//! All handlers of the host: components and endpoints, as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use tether_core::allowance::Allowance;
use tether_core::digest::Digest;
use tether_core::failure::Failure;
use tether_core::grant::Binding;
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::tool::Offer;

use crate::config::ConfigError;

/// Each binding leads to those who know it.
pub struct AllHandlers {
    components: Box<dyn Handlers>,
    endpoints: Box<dyn Handlers>,
    offers: BTreeMap<ToolName, Arc<Offer>>,
}

impl AllHandlers {
    /// The tools of both, as they are offered now.
    ///
    /// # Errors
    ///
    /// When two of them have the same name.
    pub fn new(components: impl Handlers, endpoints: impl Handlers) -> Result<Self, ConfigError> {
        let mut offers: BTreeMap<ToolName, Arc<Offer>> = BTreeMap::new();
        for offer in components.offers().into_iter().chain(endpoints.offers()) {
            let (tool, second) = (offer.tool.name.clone(), described(&offer.binding));
            if let Some(first) = offers.insert(tool.clone(), offer) {
                return Err(ConfigError::new(format!(
                    "the tool `{tool}` is offered by {} and by {second}; rename one, or serve only one",
                    described(&first.binding)
                )));
            }
        }
        Ok(Self { components: Box::new(components), endpoints: Box::new(endpoints), offers })
    }

    /// Those who know `binding`.
    fn of(&self, binding: &Binding) -> &dyn Handlers {
        match binding {
            Binding::Component(_) => &*self.components,
            Binding::Endpoint(_) => &*self.endpoints,
        }
    }
}

fn described(binding: &Binding) -> String {
    match binding {
        Binding::Component(bound) => format!("the component `{}`", bound.component),
        Binding::Endpoint(bound) => format!("the endpoint {}", bound.url),
    }
}

impl Handlers for AllHandlers {
    fn offers(&self) -> Vec<Arc<Offer>> {
        self.offers.values().cloned().collect()
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.offers.get(tool).cloned()
    }

    fn fits<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        self.of(binding).fits(tenant, binding)
    }

    fn preview<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        self.of(binding).preview(binding, invocation, allowance)
    }

    fn read<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        self.of(binding).read(binding, invocation, allowance)
    }

    fn write<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        self.of(binding).write(binding, invocation, journal)
    }

    fn records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        self.of(binding).records(tenant, binding, key)
    }

    fn empty_records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        self.of(binding).empty_records(tenant, binding, key)
    }

    fn retain(&self, needed: &[Digest]) {
        self.components.retain(needed);
        self.endpoints.retain(needed);
    }
}

#[cfg(test)]
mod tests;
