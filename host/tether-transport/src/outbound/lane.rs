//! The connections to one destination.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Client;
use rustls::ClientConfig;
use tether_core::destination::Destination;

use super::names::{Names, Vetted};
use super::passage::Watch;

/// So many connections to one origin are kept while nobody needs them.
const MOST_KEPT: usize = 8;

/// And so long. Servers and what stands between drop idle connections sooner or later;
/// those that are young are likely still there.
const KEPT_FOR: Duration = Duration::from_secs(30);

/// How often a peer is asked for a sign of life on a connection of HTTP/2 that has
/// requests under way. They all share it: were it dead, each repetition would be lost
/// on it again.
const PING_EVERY: Duration = Duration::from_secs(8);

/// Without a sign for so long, the connection is given up.
const PING_ANSWERED_WITHIN: Duration = Duration::from_secs(8);

/// A destination, and the connections that reads keep to it. Destinations share none:
/// one may be at addresses at which another may not.
pub(crate) struct Lane {
    pub(super) destination: Arc<Destination>,
    reads: OnceLock<Client>,
}

/// What every connection of a host needs.
pub(super) struct Way {
    pub(super) names: Arc<dyn Names>,
    pub(super) tls: ClientConfig,
}

impl Lane {
    pub(crate) fn new(destination: Destination) -> Self {
        Self { destination: Arc::new(destination), reads: OnceLock::new() }
    }

    /// The client of reads: it keeps connections for whoever comes next.
    ///
    /// Beneath it, one resend remains that cannot be turned off: where a kept
    /// connection turns out to be closed before a single byte of the request was
    /// written to it, the request goes out on another one. The peer has not seen it,
    /// so it still sees each request once. A request that began to leave is never
    /// repeated there, but only by our own policy.
    pub(super) fn reads(&self, way: &Way) -> Result<Client, reqwest::Error> {
        if let Some(client) = self.reads.get() {
            return Ok(client.clone());
        }
        let client = self
            .client(way)
            .pool_max_idle_per_host(MOST_KEPT)
            .pool_idle_timeout(KEPT_FOR)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_ANSWERED_WITHIN)
            .build()?;
        Ok(self.reads.get_or_init(|| client).clone())
    }

    /// A client for one request of a write. Its connection is its own and is not kept:
    /// on a fresh connection the client has nothing to resend.
    pub(super) fn write(&self, way: &Way) -> Result<Client, reqwest::Error> {
        self.client(way).pool_max_idle_per_host(0).build()
    }

    fn client(&self, way: &Way) -> reqwest::ClientBuilder {
        let vetted = Vetted { names: way.names.clone(), destination: self.destination.clone() };
        Client::builder()
            .tls_backend_preconfigured(way.tls.clone())
            .dns_resolver(vetted)
            .connector_layer(Watch)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
    }
}
