//! A whole host in this process: the gateway on real files, with real handlers.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tether::clock::SystemClock;
use tether::handlers::AllHandlers;
use tether_core::clock::{Clock, Timestamp};
use tether_core::grant::{DatabaseGrant, Grants};
use tether_core::id::RequestId;
use tether_core::identity::{Caller, Channel, Role};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{
    Databases, NotNow, Record, Scope, Session, SqlLimits, Unfit, Unreachable, Work,
};
use tether_core::port::handlers::Handlers;
use tether_core::rule::{Rule, Rules};
use tether_core::tool::{Tool, ToolEffect};
use tether_gateway::{Gateway, Settings};
use tether_runner::{LoadRequest, Runner, Source};
use tether_store::{SqliteActions, SqliteDatabases};
use tether_transport::endpoint::{EndpointSettings, Endpoints};
use tether_transport::outbound::{self, Outbound, Secrets};
use tokio::runtime::Runtime;

use crate::crash::writes::upstream;
use crate::support::{Folder, Upstream, collect, component, lend};

/// What hosts of this process have in common: all that holds nothing of an action.
/// Stores are opened anew in every life.
pub(super) struct House {
    pub(super) upstream: Arc<Upstream>,
    pub(super) databases: Arc<Reopened>,
    pub(super) clock: Arc<Hands>,
    handlers: Arc<dyn Handlers>,
    _folder: Folder,
}

impl House {
    pub(super) fn new() -> Self {
        let (folder, upstream) = (Folder::new(), Arc::new(upstream()));
        let (databases, clock) = (Arc::<Reopened>::default(), Arc::<Hands>::default());
        let sending = outbound::Settings {
            max_answer_bytes: 100_000,
            max_request_bytes: 100_000,
            max_requests: 10,
            extra_roots: Vec::new(),
            secrets: Secrets::default(),
        };
        let outbound = Outbound::new(sending, Arc::new(SystemClock::new())).expect("it can send");
        let endpoint = EndpointSettings {
            url: upstream.url("/tools"),
            headers: [].into(),
            key_header: None,
            tools: vec![remote_tool()],
        };
        let endpoints = Endpoints::new(&outbound, vec![endpoint], 100_000).expect("it is an endpoint");
        let runner = runner(&folder, &upstream, databases.clone(), outbound);
        let handlers = Arc::new(AllHandlers::new(runner, endpoints).expect("each tool has its own name"));
        Self { upstream, databases, clock, handlers, _folder: folder }
    }

    /// Runs a life on the files in `data`, opened anew, in which what is proposed takes so
    /// many `people`. Whatever it leaves open is closed when this returns.
    pub(super) fn live<T>(&self, data: &Path, people: u32, life: impl AsyncFnOnce(Arc<Gateway>) -> T) -> T {
        self.databases.open(data);
        let actions = SqliteActions::open(data.join("actions.db")).expect("the actions can be opened");
        let default = Rule { people, ..Rule::default() };
        let settings = Settings { rules: Rules { default, ..Rules::default() }, ..Settings::default() };
        let gateway = Gateway::new(Arc::new(actions), self.handlers.clone(), self.clock.clone(), settings);
        runtime().block_on(life(gateway))
    }
}

pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("threads can be started")
}

/// A runner that has the probe, compiled by whoever was first.
fn runner(folder: &Folder, upstream: &Upstream, databases: Arc<Reopened>, outbound: Outbound) -> Runner {
    let data = folder.path().join("runner");
    lend(&data);
    let runner = Runner::new(tether_runner::Settings::new(&data), databases, outbound).expect("it can run");
    let destination = format!("{}\tPOST\t\t\t", upstream.origin()).parse().expect("a destination");
    let grants = Grants {
        databases: [("main".parse().expect("a name"), DatabaseGrant::Own)].into(),
        destinations: vec![destination],
    };
    let source = Source::Path(component("probe").to_owned());
    let request = LoadRequest { name: "probe".parse().expect("a name"), source, grants };
    runtime().block_on(runner.load(request)).expect("the probe can be loaded");
    collect(&data);
    runner
}

fn remote_tool() -> Tool {
    Tool {
        name: "remote_write".parse().expect("a name"),
        title: None,
        description: "Writes.".to_owned(),
        effect: ToolEffect::Write,
        input_schema: JsonText::parse(r#"{"type": "object"}"#).expect("JSON"),
        output_schema: None,
    }
}

/// Who proposes, and who decides.
pub(super) fn operator() -> Caller {
    person("operator")
}

/// Somebody who may decide.
pub(super) fn person(user: &str) -> Caller {
    Caller {
        tenant: "default".parse().expect("a name"),
        user: user.parse().expect("a name"),
        roles: vec![Role::Agent, Role::Approver],
        channel: Channel::Api,
        alone: true,
        operator: false,
    }
}

/// Databases that can be opened anew, elsewhere, beneath a runner that stays.
#[derive(Default)]
pub(super) struct Reopened(RwLock<Option<Arc<SqliteDatabases>>>);

impl Reopened {
    fn open(&self, data: &Path) {
        let opened = Arc::new(SqliteDatabases::new(data, SqlLimits::default()));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(opened);
    }

    fn now(&self) -> Arc<SqliteDatabases> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone().expect("they were opened")
    }
}

impl Databases for Reopened {
    fn session(&self, scope: Scope, work: Work) -> Box<dyn Session> {
        self.now().session(scope, work)
    }

    fn fit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Result<(), Unfit>, NotNow>> {
        let now = self.now();
        Box::pin(async move { now.fit(scope).await })
    }

    fn records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        let now = self.now();
        Box::pin(async move { now.records(scope, key).await })
    }

    fn empty_records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        let now = self.now();
        Box::pin(async move { now.empty_records(scope, key).await })
    }
}

/// A clock whose hands a test moves on.
#[derive(Default)]
pub(super) struct Hands {
    machine: SystemClock,
    ahead: AtomicI64,
}

impl Hands {
    pub(super) fn advance(&self, span: Duration) {
        self.ahead.fetch_add(span.as_millis() as i64, Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.machine.now().as_millis() + self.ahead.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.machine.monotonic()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        self.machine.sleep(span)
    }
}
