//! What the handlers share.

use std::sync::{Arc, OnceLock};

use tether_core::port::announcements::Announcements;
use tether_core::port::sessions::Sessions;
use tether_gateway::Gateway;
use tokio::sync::watch;

use crate::token::Identities;

/// What a host is made of, besides the gateway.
pub struct HostParts {
    /// Who may use it.
    pub identities: Identities,
    /// Who is signed in.
    pub sessions: Arc<dyn Sessions>,
    /// What is written to the histories.
    pub feed: Arc<dyn Announcements>,
}

/// The gateway, as soon as there is one, and who may use it.
pub struct Host {
    parts: HostParts,
    gateway: OnceLock<Arc<Gateway>>,
    closing: watch::Sender<()>,
}

impl Host {
    /// A host that is alive and not yet ready.
    pub fn new(parts: HostParts) -> Arc<Self> {
        Arc::new(Self { parts, gateway: OnceLock::new(), closing: watch::Sender::default() })
    }

    /// Components are loaded and recovery is done: from now on it serves.
    pub fn ready(&self, gateway: Arc<Gateway>) {
        // There is one start in a life; a second call changes nothing.
        let _ = self.gateway.set(gateway);
    }

    /// Changes when the host is about to stop: an answer that would go on for long ends
    /// then.
    pub fn closing(&self) -> watch::Receiver<()> {
        self.closing.subscribe()
    }

    /// The host is about to stop.
    pub(super) fn close(&self) {
        self.closing.send_replace(());
    }

    /// The gateway, once the host is ready.
    pub(super) fn gateway(&self) -> Option<&Arc<Gateway>> {
        self.gateway.get()
    }

    /// Who may use it.
    pub(super) fn identities(&self) -> &Identities {
        &self.parts.identities
    }
}
