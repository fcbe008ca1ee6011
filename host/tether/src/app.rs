//! The house, built from the ground up, and taken down in order.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tether_core::clock::Clock;
use tether_core::port::handlers::Handlers;
use tether_core::tool::Tool;
use tether_gateway::Gateway;
use tether_runner::{LoadRequest, Runner, Source};
use tether_store::{SqliteActions, SqliteDatabases};
use tether_transport::endpoint::Endpoints;
use tether_transport::errand::{Address, Reach};
use tether_transport::outbound::{self, Outbound};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::clock::SystemClock;
use crate::config::{self, Config, ConfigError, Limits};
use crate::data_folder::DataFolder;
use crate::handlers::AllHandlers;
use crate::http::{Host, HostParts, Patience, serve};
use crate::identity::{self, Identities, IdentityParts, KeysAt, KnownPeople, ProviderSettings};
use crate::mcp;
use crate::progress::slow;
use crate::token;
use crate::webhooks;

/// How often actions are looked after without anybody asking.
const SWEEP: Duration = Duration::from_secs(1);

/// What the end of an attempt may take beyond its own time.
const SETTLE: Duration = Duration::from_secs(5);

/// A gateway that serves.
pub struct App {
    address: SocketAddr,
    token: Option<String>,
    gateway: Arc<Gateway>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    /// Dropped, the keys of providers are no longer kept fresh.
    _keys: JoinSet<()>,
    /// Dropped, nobody is told any more.
    _notices: JoinSet<()>,
    /// How long requests and attempts may still take when it is stopped.
    grace: Duration,
    /// Given back last.
    _folder: DataFolder,
}

impl App {
    /// Builds all floors, settles what an earlier process left behind, and serves.
    /// From the first moment on `/healthz` answers, and `/readyz` once this has
    /// returned.
    ///
    /// # Errors
    ///
    /// Whatever stands in the way; the text says what to do.
    pub async fn start(config: Config) -> anyhow::Result<Self> {
        let folder = DataFolder::take(&config.data_dir)?;
        let databases = SqliteDatabases::new(folder.path(), config.limits.sql);
        config::are_there(&config.components, |path| databases.was_used(path))?;
        let path = folder.path().join("actions.db");
        let actions = SqliteActions::open(&path);
        let actions = Arc::new(actions.with_context(|| format!("cannot open {}", path.display()))?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let outbound = outbound(&config, Arc::clone(&clock))?;
        let token = config.identities.first_token.then(|| host_token(&folder)).transpose()?;
        let identities = Identities::new(IdentityParts {
            host_token: token.clone(),
            tokens: actions.clone(),
            providers: config.identities.providers.clone(),
            fetch: identity::fetch(&outbound),
            proxies: config.proxies.clone(),
            clock: Arc::clone(&clock),
        })
        .await
        .with_context(|| format!("cannot read {}", path.display()))?;
        warn_of_keys_in_the_clear(&config.identities.providers);
        let let_in = identities.let_somebody_in().await;
        let let_in = let_in.with_context(|| format!("cannot read {}", path.display()))?;
        somebody_can_come(let_in, token.is_some(), config.listen)?;
        if !identities.are_configured() && config.actions.rules.most_people() > 1 {
            tracing::warn!(
                "a rule takes several persons, and the host's own token is the only identity: nobody could confirm"
            );
        }
        let keys = identities.keep_keys();
        let listener = listen(config.listen).await?;
        let address = listener.local_addr()?;
        let sources = webhooks::Sources {
            hooks: actions.clone(),
            feed: actions.clone(),
            actions: actions.clone(),
            clock: Arc::clone(&clock),
            inbox: config.inbox.at(address).into(),
        };
        let notices = webhooks::start(config.webhooks.clone(), sources, &outbound);
        let notices = notices.await.context("the queues of the webhooks cannot be read")?;

        let host = Host::new(HostParts {
            identities,
            sessions: actions.clone(),
            feed: actions.clone(),
            clock: Arc::clone(&clock),
            inbox: config.inbox.clone(),
            mcp: config.mcp.clone(),
            listen: address,
        });
        let (stop, stopped) = oneshot::channel();
        // An app that is dropped stops as well.
        let stopped = async { stopped.await.unwrap_or(()) };
        let server = tokio::spawn(serve(listener, Arc::clone(&host), Patience::default(), stopped));

        let people = Arc::new(KnownPeople {
            tokens: actions.clone(),
            operator_left_at: token.is_none().then(|| clock.now()),
            clock: Arc::clone(&clock),
        });
        let grace = config.retry.timeout() + SETTLE;
        let floors = floors(config, &folder, Below { people, actions, databases, outbound, clock });
        let gateway = match floors.await {
            Ok(gateway) => gateway,
            Err(error) => {
                server.abort();
                return Err(error);
            }
        };
        slow("settling what was interrupted", gateway.recover()).await.context("recovery failed")?;
        let sweeper = tokio::spawn(sweep(Arc::clone(&gateway)));
        host.ready(Arc::clone(&gateway));
        Ok(Self {
            address,
            token,
            gateway,
            stop,
            server,
            sweeper,
            _keys: keys,
            _notices: notices,
            grace,
            _folder: folder,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host's own token, where it has one.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Takes no new requests, and waits for those that came, and for writes that
    /// execute, as long as one may take.
    pub async fn stop(self) {
        // A server that has ended needs no word.
        let _ = self.stop.send(());
        let drained = timeout(self.grace, async {
            if let Err(error) = self.server.await {
                tracing::error!(%error, "the server's task ended");
            }
            // Confirmations run in tasks of their own, without their caller if need be.
            self.gateway.idle().await;
        });
        if drained.await.is_err() {
            tracing::warn!("not everything ended in time; the next start settles what is left");
        }
        self.sweeper.abort();
    }
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "another program listens there; stop it, or choose another port: --listen 127.0.0.1:0 takes a free one"
            }
            io::ErrorKind::PermissionDenied => "this user may not; choose a port above 1023 with --listen",
            _ => "choose another address with --listen",
        };
        anyhow::Error::new(error).context(format!("cannot listen on {address}: {advice}"))
    })
}

/// The host's own token.
fn host_token(folder: &DataFolder) -> anyhow::Result<String> {
    token::load_or_make(folder.path())
        .with_context(|| format!("the token in {} cannot be had", folder.path().display()))
}

/// Whoever is on the way to such keys can put their own in their place.
fn warn_of_keys_in_the_clear(providers: &[ProviderSettings]) {
    for ProviderSettings { expected, keys, .. } in providers {
        let url = match keys {
            KeysAt::Discovery => &expected.issuer,
            KeysAt::Url(url) => url,
        };
        if Address::parse(url, Reach::Operators).is_ok_and(|address| address.is_in_the_clear()) {
            tracing::warn!(url, "the keys of an identity provider are fetched over plain http: use https");
        }
    }
}

/// A host that nobody can use serves nobody; and beyond loopback it serves those who were
/// given a token each. Only the store knows whether there are any that let somebody in.
fn somebody_can_come(let_in: bool, has_own_token: bool, listen: SocketAddr) -> Result<(), ConfigError> {
    const MAKE: &str =
        "make a token with `tether token create --user NAME --role ROLE`, or configure a provider";
    if let_in {
        return Ok(());
    }
    if !has_own_token {
        return Err(ConfigError::new(format!(
            "nobody could come in: `identities.first_token` is false, and there is no provider and no token that is \
             not revoked or over; {MAKE}"
        )));
    }
    if !listen.ip().is_loopback() {
        return Err(ConfigError::new(format!(
            "listening on {listen} lets everybody try who finds it, and nothing but the host's own token lets \
             anybody in: there is no provider, and no token that is not revoked or over; {MAKE}, or listen on \
             127.0.0.1"
        )));
    }
    Ok(())
}

/// The way out, for whatever leaves the host.
fn outbound(config: &Config, clock: Arc<dyn Clock>) -> anyhow::Result<Outbound> {
    let settings = outbound::Settings {
        max_answer_bytes: config.limits.answer_bytes,
        max_request_bytes: config.limits.request_bytes,
        max_requests: config.limits.requests,
        extra_roots: config.extra_roots.clone(),
        secrets: config.secrets.clone(),
    };
    let outbound = Outbound::new(settings, clock);
    Ok(outbound.map_err(|error| wrong("tool_transport.extra_roots", &error))?)
}

/// What the floors stand on.
struct Below {
    people: Arc<KnownPeople>,
    actions: Arc<SqliteActions>,
    databases: SqliteDatabases,
    outbound: Outbound,
    clock: Arc<dyn Clock>,
}

/// The floors, from the ground up.
async fn floors(config: Config, folder: &DataFolder, below: Below) -> anyhow::Result<Arc<Gateway>> {
    let Config { retry, max_response_bytes, actions: settings, limits, .. } = config;
    let Below { people, actions, databases, outbound, clock } = below;
    for endpoint in &config.endpoints {
        tracing::info!(url = endpoint.url, tools = names(&endpoint.tools), "endpoint");
    }
    let endpoints = Endpoints::new(&outbound, config.endpoints, max_response_bytes)
        .map_err(|error| wrong("endpoints", &error))?;

    let runner =
        Runner::new(runner_settings(folder, max_response_bytes, &limits), Arc::new(databases), outbound)?;
    for component in config.components {
        let doing = format!("compiling {}", component.path.display());
        let request = LoadRequest {
            name: component.name,
            source: Source::Path(component.path.clone()),
            grants: component.grants,
        };
        let loaded = slow(&doing, runner.load(request)).await?;
        let tools = names(&loaded.manifest.tools);
        tracing::info!(component = %loaded.name, digest = %loaded.digest, tools, "loaded");
    }
    let handlers: Arc<dyn Handlers> = Arc::new(AllHandlers::new(runner, endpoints)?);
    if handlers.offers().is_empty() {
        tracing::warn!(
            "no tool is offered: name a component, as in `tether serve tickets.wasm`, or an endpoint"
        );
    }

    let offers = handlers.offers();
    mcp::leave_its_names_free(&offers)?;
    config::are_about_tools(&settings.rules, offers.iter().map(|offer| &offer.tool.name))?;
    for tool in config::of_reads(&settings.rules, offers.iter().map(|offer| &offer.tool)) {
        tracing::warn!(%tool, "a rule is about a tool that reads, and does nothing: reads wait for nobody");
    }
    let settings = tether_gateway::Settings {
        retry,
        max_attempts: settings.max_attempts,
        rules: settings.rules,
        max_concurrent: limits.max_concurrent as usize,
        max_concurrent_per_tenant: limits.max_concurrent_per_tenant as usize,
        queue_time: limits.queue_time,
        keep_results: settings.keep_results,
        keep_arguments: settings.keep_arguments,
    };
    Ok(Gateway::among(people, actions, handlers, clock, settings))
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// A configuration whose parts are right, and whose whole cannot be.
fn wrong(key: &str, error: &dyn std::error::Error) -> ConfigError {
    let why = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    ConfigError::new(format!("`{key}`: {error}{why}"))
}

fn runner_settings(
    folder: &DataFolder,
    max_response_bytes: usize,
    limits: &Limits,
) -> tether_runner::Settings {
    tether_runner::Settings {
        max_memory_bytes: limits.memory,
        max_stack_bytes: limits.stack,
        max_response_bytes,
        max_instances: limits.max_concurrent,
        max_handles: limits.handles,
        ..tether_runner::Settings::new(folder.path())
    }
}

/// Looks after actions for as long as the process lives. A round that fails, or
/// panics, is one round.
async fn sweep(gateway: Arc<Gateway>) {
    let mut rounds = interval(SWEEP);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        rounds.tick().await;
        let gateway = Arc::clone(&gateway);
        let round = tokio::spawn(async move { gateway.sweep().await }).await;
        let failure = match round {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        // A disk that stays full is told once.
        match &failure {
            Some(error) if !failing => {
                tracing::error!(error, "looking after actions failed; it is tried again")
            }
            None if failing => tracing::info!("looking after actions works again"),
            _ => {}
        }
        failing = failure.is_some();
    }
}
