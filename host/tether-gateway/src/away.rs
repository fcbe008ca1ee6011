//! Databases that did not answer in a round of the sweep: nobody waits for them a
//! second time.

use tether_core::action::{Action, Proposal};
use tether_core::grant::Binding;
use tether_core::id::TenantId;

/// See the module.
#[derive(Default)]
pub(crate) struct Away(Vec<(TenantId, Binding)>);

impl Away {
    /// Whether the databases of this action are among them.
    pub(crate) fn holds(&self, action: &Action) -> bool {
        let Proposal { tenant, binding, .. } = &action.proposal;
        self.0.iter().any(|(of, away)| of == tenant && away == binding)
    }

    /// The databases of this action did not answer.
    pub(crate) fn add(&mut self, action: &Action) {
        self.0.push((action.proposal.tenant.clone(), action.proposal.binding.clone()));
    }
}
