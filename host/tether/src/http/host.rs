//! What the handlers share.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use tether_core::clock::Clock;
use tether_core::port::announcements::Announcements;
use tether_core::port::sessions::Sessions;
use tether_gateway::Gateway;
use tokio::sync::watch;

use crate::config;
use crate::identity::Identities;
use crate::inbox::Inbox;
use crate::mcp::{self, Mcp};

/// What a host is made of, besides the gateway.
pub struct HostParts {
    /// Who may use it.
    pub identities: Identities,
    /// Who is signed in.
    pub sessions: Arc<dyn Sessions>,
    /// What is written to the histories.
    pub feed: Arc<dyn Announcements>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How the inbox is reached.
    pub inbox: config::Inbox,
    /// How the Model Context Protocol is served.
    pub mcp: config::Mcp,
    /// Where it listens.
    pub listen: SocketAddr,
}

/// The gateway, as soon as there is one, and who may use it.
pub struct Host {
    identities: Identities,
    inbox: Inbox,
    /// Where people find it.
    inbox_at: String,
    mcp_settings: config::Mcp,
    mcp: OnceLock<Arc<Mcp>>,
    gateway: OnceLock<Arc<Gateway>>,
    closing: watch::Sender<bool>,
}

impl Host {
    /// A host that is alive and not yet ready.
    pub fn new(parts: HostParts) -> Arc<Self> {
        let HostParts { identities, sessions, feed, clock, inbox, mcp, listen } = parts;
        mcp::warn_of_audiences(&identities, inbox.url.as_ref());
        Arc::new(Self {
            identities,
            inbox_at: inbox.at(listen),
            inbox: Inbox::new(&inbox, listen, sessions, feed, clock),
            mcp_settings: mcp,
            mcp: OnceLock::new(),
            gateway: OnceLock::new(),
            closing: watch::Sender::default(),
        })
    }

    /// Components are loaded and recovery is done: from now on it serves.
    pub fn ready(&self, gateway: Arc<Gateway>) {
        // There is one start in a life; a second call changes nothing.
        let mcp = Mcp::new(&self.mcp_settings, Arc::clone(&gateway), &self.inbox_at, self.closing());
        let _ = self.mcp.set(Arc::new(mcp));
        let _ = self.gateway.set(gateway);
    }

    /// True once the host is about to stop: an answer that would go on for long ends then.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// The host is about to stop.
    pub(super) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// The gateway, once the host is ready.
    pub(crate) fn gateway(&self) -> Option<&Arc<Gateway>> {
        self.gateway.get()
    }

    /// Who may use it.
    pub(crate) fn identities(&self) -> &Identities {
        &self.identities
    }

    /// The Model Context Protocol, once the host is ready.
    pub(crate) fn mcp(&self) -> Option<&Arc<Mcp>> {
        self.mcp.get()
    }

    /// How it is served.
    pub(crate) fn mcp_settings(&self) -> &config::Mcp {
        &self.mcp_settings
    }

    /// What the pages share.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }
}
