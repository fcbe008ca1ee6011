//! The Model Context Protocol: agents find and call the tools with the clients that they
//! have, and no client gets around the person.
//!
//! rmcp speaks the protocol, in both of its generations. It carries neither arguments nor
//! results: those pass by it to the letter (`message`, `splice`). Here, and nowhere else, it
//! is named.

mod action;
mod answer;
mod arrived;
mod asked;
mod batch;
mod built_in;
mod call;
mod content;
mod decision;
mod door;
mod endpoint;
mod exchange;
#[cfg(test)]
mod foreign;
mod headers;
mod message;
mod metadata;
mod parameters;
mod problem;
mod progress;
mod question;
mod refusal;
mod revision;
mod seats;
mod server;
mod sessions;
mod splice;
mod stream;
mod task;
mod tools;
mod words;

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tether_core::tool::Offer;
use tether_gateway::Gateway;
use tokio::sync::watch;

use crate::config::{self, ConfigError};
use crate::http::{BODY_LIMIT, Route};
use action::Pages;
use asked::Asked;
pub(crate) use door::{Page, narrowed, turned_away};
pub(crate) use message::{id_in, id_of};
pub(crate) use metadata::{challenged, warn_of_audiences};
use server::{Server, Shared};
use sessions::Sessions;
use tools::Tools;

/// Everything that it serves.
pub(crate) const ROUTES: &[Route] = &[
    endpoint::POST,
    endpoint::GET,
    endpoint::DELETE,
    endpoint::PREFLIGHT,
    metadata::OF_HOST,
    metadata::OF_MCP,
    metadata::PREFLIGHT_OF_HOST,
    metadata::PREFLIGHT_OF_MCP,
];

/// How often a stream without news says that it is alive.
const BEAT: Duration = Duration::from_secs(15);

/// What a call may take beyond the time of its handler.
const MARGIN: Duration = Duration::from_secs(120);

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// The protocol's server, over HTTP and for `tether mcp`.
pub(crate) struct Mcp {
    shared: Arc<Shared>,
    sessions: Sessions,
    http: Service,
    stdio: Service,
}

impl Mcp {
    /// One that offers what `gateway` offers; people decide at `inbox`, and streams end once
    /// `closing` is true.
    pub(crate) fn new(
        settings: &config::Mcp,
        gateway: Arc<Gateway>,
        inbox: &str,
        closing: watch::Receiver<bool>,
    ) -> Self {
        // It may wait for its turn, and a form for its person.
        let longest_call = gateway.policy().call_time() + MARGIN;
        let tools = Tools::new(&gateway.all_offers(), settings.page_size);
        let pages = Pages(format!("{inbox}/inbox/actions/"));
        let shared = Arc::new(Shared { gateway, tools, pages, asked: Asked::default(), closing });
        let sessions = Sessions::new(settings.max_sessions, settings.session, longest_call);
        let service = |server: Server| {
            // The door was there before: one place knows names and origins.
            let config = StreamableHttpServerConfig::default()
                .disable_allowed_hosts()
                .disable_allowed_origins()
                .with_json_response(true)
                .with_sse_retry(None)
                .with_sse_keep_alive(Some(BEAT))
                .with_max_request_body_bytes(BODY_LIMIT);
            StreamableHttpService::new(move || Ok(server.clone()), sessions.manager(), config)
        };
        let http = service(Server::new(Arc::clone(&shared)));
        let stdio = service(Server::without_headers(Arc::clone(&shared)));
        Self { shared, sessions, http, stdio }
    }

    /// Whether arguments of this tool may be repeated in headers.
    fn has_headers(&self, tool: &str) -> bool {
        self.shared.tools.get(tool).is_some_and(|listed| listed.has_headers)
    }
}

/// The names of the host's own tools are not for others.
///
/// # Errors
///
/// With the one that is taken.
pub(crate) fn leave_its_names_free(offers: &[Arc<Offer>]) -> Result<(), ConfigError> {
    if offers.iter().any(|offer| offer.tool.name.as_str() == built_in::NAME) {
        return Err(ConfigError::new(format!(
            "a tool is named `{}`, which is the host's own over MCP; give it another name",
            built_in::NAME
        )));
    }
    Ok(())
}
