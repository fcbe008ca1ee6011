//! What every test needs: a data folder, a runner, the probe, and calls of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tether_core::allowance::Allowance;
use tether_core::clock::{Clock, Timestamp};
use tether_core::failure::Failure;
use tether_core::grant::{Binding, BoundComponent, DatabaseGrant, Grants};
use tether_core::id::{ComponentName, RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{Databases, SqlLimits};
use tether_core::port::handlers::{Handlers, WriteReport};
use tether_core::retry::RetryPolicy;
use tether_runner::{LoadError, LoadRequest, Loaded, Runner, Settings, Source};
use tether_store::SqliteDatabases;
use tether_transport::outbound::{self, Outbound, Secrets};

use crate::journal::Notes;
use crate::scripted::Scripted;

/// A folder of a test's own, gone with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tether-runner-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A runner with databases that follow a script, or with real ones.
pub(crate) struct World<D = Scripted> {
    pub(crate) runner: Runner,
    pub(crate) databases: Arc<D>,
    /// What writes sent.
    pub(crate) journal: Arc<Notes>,
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        Self::on(settings, Scripted::default())
    }
}

impl World<SqliteDatabases> {
    /// With real databases in `folder`.
    pub(crate) async fn real(folder: &Folder, limits: SqlLimits) -> Self {
        let databases = SqliteDatabases::new(folder.path(), limits);
        load_probe(|settings| World::on(settings, databases), |_| {}, grants()).await
    }
}

impl<D: Databases> World<D> {
    fn on(settings: Settings, databases: D) -> Self {
        let databases = Arc::new(databases);
        let sending = outbound::Settings {
            max_answer_bytes: 100_000,
            max_request_bytes: 100_000,
            max_requests: 60,
            extra_roots: Vec::new(),
            secrets: Secrets::default(),
        };
        let outbound = Outbound::new(sending, Arc::new(Watch(Instant::now())));
        let runner = Runner::new(settings, Arc::<D>::clone(&databases), outbound.unwrap()).unwrap();
        Self { runner, databases, journal: Arc::default() }
    }

    pub(crate) async fn load(&self, name: &str, bytes: &[u8]) -> Result<Loaded, LoadError> {
        self.load_with(name, bytes, grants()).await
    }

    pub(crate) async fn load_with(
        &self,
        name: &str,
        bytes: &[u8],
        grants: Grants,
    ) -> Result<Loaded, LoadError> {
        let source = Source::Bytes(bytes.to_vec());
        self.runner.load(LoadRequest { name: name.parse().unwrap(), source, grants }).await
    }

    /// What a tool is bound to.
    pub(crate) fn binding(&self, tool: &str) -> Binding {
        self.runner.offer(&tool.parse().unwrap()).unwrap().binding.clone()
    }

    /// The component in it.
    pub(crate) fn bound(&self, tool: &str) -> BoundComponent {
        match self.binding(tool) {
            Binding::Component(component) => component,
            Binding::Endpoint(endpoint) => panic!("no component: {endpoint:?}"),
        }
    }

    pub(crate) async fn read(&self, tool: &str, arguments: &str) -> Result<String, Failure> {
        self.read_within(tool, arguments, Duration::from_secs(10)).await
    }

    pub(crate) async fn read_within(
        &self,
        tool: &str,
        arguments: &str,
        time: Duration,
    ) -> Result<String, Failure> {
        let call = Invocation { timeout: time, ..call(tool, arguments, 1) };
        self.read_by(call, allowance(3, Duration::from_secs(20))).await
    }

    /// One attempt of a read, out of `allowance`.
    pub(crate) async fn read_by(
        &self,
        call: Invocation,
        allowance: Arc<Allowance>,
    ) -> Result<String, Failure> {
        let answer = self.runner.read(&self.binding(call.tool.as_str()), call, allowance).await;
        answer.map(|output| output.as_str().to_owned())
    }

    pub(crate) async fn write(&self, call: Invocation) -> WriteReport {
        let journal = Arc::<Notes>::clone(&self.journal);
        self.runner.write(&self.binding(call.tool.as_str()), call, journal).await
    }

    pub(crate) async fn preview(&self, tool: &str, arguments: &str) -> Result<Option<String>, Failure> {
        let allowance = allowance(3, Duration::from_secs(20));
        self.runner.preview(&self.binding(tool), call(tool, arguments, 1), allowance).await
    }
}

/// A world with the probe loaded: one for all tests that leave nothing behind.
pub(crate) async fn probe() -> World {
    probe_with(|_| {}).await
}

/// The same, with settings of its own.
pub(crate) async fn probe_with(change: impl FnOnce(&mut Settings)) -> World {
    load_probe(World::new, change, grants()).await
}

/// A world whose probe may send anything to `origin`.
pub(crate) async fn probe_sending_to(origin: &str) -> World {
    probe_sending(origin, |_| {}).await
}

/// The same, with settings of its own.
pub(crate) async fn probe_sending(origin: &str, change: impl FnOnce(&mut Settings)) -> World {
    let destination = format!("{origin}\tDELETE,GET,HEAD,POST\t\t\t").parse().unwrap();
    let grants = Grants { destinations: vec![destination], ..grants() };
    load_probe(World::new, change, grants).await
}

async fn load_probe<D: Databases>(
    world: impl FnOnce(Settings) -> World<D>,
    change: impl FnOnce(&mut Settings),
    grants: Grants,
) -> World<D> {
    // Shared, so that the probe is compiled once; the tests of what is kept have
    // folders of their own.
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("probe"));
    let mut settings = Settings::new(folder);
    settings.max_instances = 8;
    change(&mut settings);
    // A runner that starts clears away what others are writing: one at a time.
    static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _turn = TURN.lock().await;
    let world = world(settings);
    world.load_with("probe", probe_bytes(), grants).await.unwrap();
    world
}

/// The probe's bytes; it is built once.
pub(crate) fn probe_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests/probe");
        let components = tether_build::build(&folder, &mut |progress| println!("{progress}")).unwrap();
        let [component] = components.as_slice() else {
            panic!("the probe makes one component, not {components:?}");
        };
        fs::read(component).unwrap()
    })
}

/// `main`, the component's own.
pub(crate) fn grants() -> Grants {
    Grants { databases: [("main".parse().unwrap(), DatabaseGrant::Own)].into(), ..Grants::default() }
}

pub(crate) fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

pub(crate) fn component(name: &str) -> ComponentName {
    name.parse().unwrap()
}

/// A key that no other call has.
pub(crate) fn fresh_key() -> RequestId {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let mut bytes = [7; 16];
    bytes[..4].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    RequestId::from_random(bytes)
}

/// A call with a fresh key.
pub(crate) fn call(tool: &str, arguments: &str, attempt: u32) -> Invocation {
    Invocation {
        request_id: fresh_key(),
        tool: tool.parse::<ToolName>().unwrap(),
        tenant: tenant(),
        user: "dana".parse().unwrap(),
        arguments: JsonText::parse(arguments).unwrap(),
        attempt,
        timeout: Duration::from_secs(10),
    }
}

/// What a call may spend: so many attempts of such a time.
pub(crate) fn allowance(attempts: u32, timeout: Duration) -> Arc<Allowance> {
    let policy = RetryPolicy::try_new(attempts, timeout).unwrap();
    Arc::new(Allowance::new(policy, Arc::new(Watch(Instant::now())), || 0.0))
}

/// The time since it was made.
struct Watch(Instant);

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.after(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(span))
    }
}
