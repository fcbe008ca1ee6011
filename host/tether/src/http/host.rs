//! What the handlers share.

use std::sync::{Arc, OnceLock};

use tether_gateway::Gateway;

use crate::token::Identities;

/// The gateway, as soon as there is one, and who may use it.
pub struct Host {
    identities: Identities,
    gateway: OnceLock<Arc<Gateway>>,
}

impl Host {
    /// A host that is alive and not yet ready.
    pub fn new(identities: Identities) -> Arc<Self> {
        Arc::new(Self { identities, gateway: OnceLock::new() })
    }

    /// Components are loaded and recovery is done: from now on it serves.
    pub fn ready(&self, gateway: Arc<Gateway>) {
        // There is one start in a life; a second call changes nothing.
        let _ = self.gateway.set(gateway);
    }

    /// The gateway, once the host is ready.
    pub(super) fn gateway(&self) -> Option<&Arc<Gateway>> {
        self.gateway.get()
    }

    /// Who may use it.
    pub(super) fn identities(&self) -> &Identities {
        &self.identities
    }
}
