//! The configuration: from flags, the environment and a file to values that have
//! been checked.
//!
//! Every key is named once, where it is asked for (`read.rs`): its range, its
//! default and the message about a wrong value stand beside one another, and
//! what nobody asked for is an unknown key.

pub(crate) mod duration;
mod endpoints;
mod existing;
mod file;
mod header;
mod http;
mod identities;
mod inbox;
mod mcp;
mod outbound;
mod read;
mod rules;
mod secrets;
mod section;
mod size;
#[cfg(test)]
mod tests;
mod tools;
mod webhooks;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tether_core::grant::Grants;
use tether_core::id::ComponentName;
use tether_core::port::databases::SqlLimits;
use tether_core::retry::RetryPolicy;
use tether_core::rule::Rules;
use tether_transport::endpoint::EndpointSettings;
use tether_transport::outbound::Secrets;

use crate::identity::Proxies;

pub(crate) use existing::are_there;
pub use identities::Identities;
pub use inbox::Inbox;
pub use mcp::Mcp;
pub(crate) use read::name_of;
pub(crate) use rules::{are_about_tools, of_reads};
pub use webhooks::Webhook;

/// Everything that an operator decides.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the gateway listens. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The folder that holds everything Tether keeps.
    pub data_dir: PathBuf,
    /// How often and how long handlers are run.
    pub retry: RetryPolicy,
    /// The longest result, in bytes of JSON text.
    pub max_response_bytes: usize,
    /// Certificates that are trusted besides the system's: PEM, may be empty.
    pub extra_roots: Vec<u8>,
    /// What `${NAME}` in headers stands for.
    pub secrets: Secrets,
    /// What becomes of proposed writes.
    pub actions: Actions,
    /// Bounds on what the host does at a time, and on each call.
    pub limits: Limits,
    /// The components to load.
    pub components: Vec<Component>,
    /// Remote systems that offer tools.
    pub endpoints: Vec<EndpointSettings>,
    /// Proxies that say whom they speak for.
    pub proxies: Proxies,
    /// Who may come in.
    pub identities: Identities,
    /// The inbox.
    pub inbox: Inbox,
    /// The Model Context Protocol.
    pub mcp: Mcp,
    /// Who is told of what happens.
    pub webhooks: Vec<Webhook>,
}

/// The `actions` section.
#[derive(Debug, Clone)]
pub struct Actions {
    /// Attempts that an action may use in all.
    pub max_attempts: u32,
    /// Who decides about which tool, how many it takes, and until when.
    pub rules: Rules,
    /// How long results are kept.
    pub keep_results: Duration,
    /// How long arguments and previews are kept once an action has ended.
    pub keep_arguments: Duration,
}

/// The `limits` section.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Handlers that run at the same time.
    pub max_concurrent: u32,
    /// Handlers that run at the same time for one tenant.
    pub max_concurrent_per_tenant: u32,
    /// How long a call waits for its turn.
    pub queue_time: Duration,
    /// Linear memory of one call, in bytes.
    pub memory: usize,
    /// Stack of one call, in bytes.
    pub stack: usize,
    /// Connections, transactions and the like that one call may hold.
    pub handles: usize,
    /// Bytes of one request that leaves the host, without its head.
    pub request_bytes: usize,
    /// Bytes of one answer to it, also after it was decompressed.
    pub answer_bytes: usize,
    /// Requests that one attempt may send.
    pub requests: usize,
    /// Bounds on SQL.
    pub sql: SqlLimits,
}

/// One of `components`.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its name: the configured one, or its file's.
    pub name: ComponentName,
    /// The component's file.
    pub path: PathBuf,
    /// What it may touch.
    pub grants: Grants,
}

/// What the command line says; it goes before everything else.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--listen`.
    pub listen: Option<SocketAddr>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// Components that are named on the line, besides those of the file.
    pub components: Vec<PathBuf>,
}

/// Why a configuration is none. The text says where and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    /// What is wrong, where, and what to do.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Config {
    /// Reads `file` (TOML, or JSON where its name ends so) and `environment`
    /// (every variable of the process), and checks everything. Without a file
    /// there are only flags, environment and defaults.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: Flags,
    ) -> Result<Self, ConfigError> {
        let (origin, values) = match file {
            Some(path) => (path.display().to_string(), file::read(path)?),
            None => (String::new(), serde_json::Map::new()),
        };
        // Paths in a file start at the file, so that it works from any folder.
        let base = file.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        read::config(section::Source { origin, base, environment }, values, flags)
    }
}
