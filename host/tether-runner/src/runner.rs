//! The handlers port, on components.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, anyhow};
use tether_core::action::Preview;
use tether_core::allowance::Allowance;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::fault::{self, Point};
use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{Databases, NotNow, Record, Rights, Scope, Unreachable, Work};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::tool::Offer;
use tether_transport::outbound::{Course, Outbound};

use crate::bindings::tether::tool::types;
use crate::component::catalogue::{Catalogue, Found};
use crate::component::error::{LoadError, LoadProblem};
use crate::component::kept::Kept;
use crate::component::load::load;
use crate::component::{Component, LoadRequest, Loaded, Source, ToolParts, scope};
use crate::guest::call::Call;
use crate::guest::time::Time;
use crate::guest::traffic::Traffic;
use crate::guest::trouble::LastTrouble;
use crate::guest::{Attempt, Errand, GuestName, told};
use crate::machine::Machine;
use crate::settings::Settings;
use tether_core::plain::plain;

/// Runs handlers that are components.
pub struct Runner {
    machine: Arc<Machine>,
    kept: Arc<Kept>,
    catalogue: Catalogue,
    databases: Arc<dyn Databases>,
    outbound: Outbound,
    /// Held while an older version is brought back, so that many actions bound to
    /// it do not compile it many times.
    bringing_back: tokio::sync::Mutex<()>,
}

/// A bound component that cannot be had.
enum Missing {
    /// It never will be.
    Outdated(String),
    /// Not now.
    Unreachable(String),
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Outdated(why) => Self::new(Cause::Failed, why),
            Missing::Unreachable(why) => Self::new(Cause::Unreachable, why),
        }
    }
}

impl Runner {
    /// A runner without components. Makes the folders `components` and `cache` in
    /// the data folder, reserves addresses for `max_instances` calls, and starts
    /// the thread that keeps their time.
    ///
    /// # Errors
    ///
    /// When the folders cannot be made, or the addresses not be reserved; the
    /// text says what to do.
    pub fn new(
        settings: Settings,
        databases: Arc<dyn Databases>,
        outbound: Outbound,
    ) -> anyhow::Result<Self> {
        let machine = Machine::new(settings).map_err(|error| {
            anyhow!("cannot set up WebAssembly ({error:#}); fewer instances or less memory each may help")
        })?;
        let data_dir = &machine.settings.data_dir;
        let kept = Kept::open(data_dir, &machine.engine).with_context(|| {
            format!(
                "cannot use the data folder {}: it must be a folder that this user can write to",
                data_dir.display()
            )
        })?;
        Ok(Self {
            machine: Arc::new(machine),
            kept: Arc::new(kept),
            catalogue: Catalogue::default(),
            databases,
            outbound,
            bringing_back: tokio::sync::Mutex::default(),
        })
    }

    /// Loads a component: its tools are offered from now on. Compiled before, it
    /// takes milliseconds.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with it; nothing of it is offered then.
    pub async fn load(&self, request: LoadRequest) -> Result<Loaded, LoadError> {
        let component = request.name.clone();
        self.try_load(request).await.map_err(|problem| LoadError { component, problem })
    }

    async fn try_load(&self, request: LoadRequest) -> Result<Loaded, LoadProblem> {
        let LoadRequest { name, source, grants } = request;
        let bytes = match source {
            Source::Bytes(bytes) => bytes,
            Source::Path(path) => {
                blocking(move || {
                    std::fs::read(&path).map_err(|error| LoadProblem::Unreadable { path, error })
                })
                .await?
            }
        };
        let component = load(&self.machine, &self.kept, name, bytes.clone(), grants).await?;
        let (kept, digest) = (Arc::clone(&self.kept), component.binding.digest);
        blocking(move || {
            let folder = kept.components().to_owned();
            kept.keep(digest, &bytes).map_err(|error| LoadProblem::NotKept { folder, error })
        })
        .await?;
        let component = Arc::new(component);
        self.catalogue.add(Arc::clone(&component))?;
        Ok(component.loaded())
    }

    /// The component that `binding` is bound to, brought back from its kept bytes
    /// where necessary.
    async fn bound(&self, binding: &Binding) -> Result<Arc<Component>, Missing> {
        let Binding::Component(binding) = binding else {
            return Err(Missing::Outdated("it is bound to a remote endpoint, and to no component".into()));
        };
        match self.catalogue.find(binding) {
            Found::Here(component) => Ok(component),
            Found::Outdated(why) => Err(Missing::Outdated(why)),
            Found::Older => self.bring_back(binding).await,
        }
    }

    async fn bring_back(&self, binding: &BoundComponent) -> Result<Arc<Component>, Missing> {
        let _turn = self.bringing_back.lock().await;
        if let Found::Here(component) = self.catalogue.find(binding) {
            return Ok(component);
        }
        let BoundComponent { component: name, digest, grants } = binding;
        let (kept, digest) = (Arc::clone(&self.kept), *digest);
        let bytes = blocking(move || kept.bytes(digest)).await;
        let bytes = bytes.map_err(|error| {
            Missing::Unreachable(format!("the kept copy of the component `{name}` cannot be read: {error}"))
        })?;
        let gone =
            || Missing::Outdated(format!("the version of the component `{name}` that was shown is gone"));
        let bytes = bytes.ok_or_else(gone)?;
        let component = load(&self.machine, &self.kept, name.clone(), bytes, grants.clone()).await;
        let component = Arc::new(component.map_err(|problem| {
            Missing::Outdated(format!(
                "the version of the component `{name}` that was shown cannot be run: {problem}"
            ))
        })?);
        self.catalogue.add_older(Arc::clone(&component));
        Ok(component)
    }

    /// The databases of a binding; an endpoint has none. Where its component is gone,
    /// the migrations are unknown; records are found without.
    async fn scope(&self, tenant: &TenantId, binding: &Binding) -> Option<Scope> {
        let Binding::Component(bound) = binding else { return None };
        let migrations = match self.bound(binding).await {
            Ok(component) => Arc::clone(&component.migrations),
            Err(_) => Arc::default(),
        };
        Some(scope(tenant, bound, migrations))
    }

    /// What one attempt of a call is given, and its time.
    fn call(
        &self,
        component: &Component,
        parts: &ToolParts,
        invocation: &Invocation,
        course: Course,
        began_main: &Arc<AtomicBool>,
    ) -> (Call, Time) {
        let Invocation { request_id: key, timeout, .. } = *invocation;
        let (rights, time) = match &course {
            Course::Read(allowance) => (Rights::Read, Time::for_itself(timeout, Arc::clone(allowance))),
            Course::Write(_) => (Rights::Write, Time::for_everything(timeout)),
        };
        let scope = scope(&invocation.tenant, &component.binding, Arc::clone(&component.migrations));
        let work = Work { rights, key, attempt: invocation.attempt, time: timeout };
        let session = self.databases.session(scope, work);
        let sender = self.outbound.sender(&component.binding.grants.destinations, key, course);
        let trouble = LastTrouble::default();
        // What the guest could not hold itself, the host does not hold for it either.
        let max_kept = self.machine.settings.max_memory_bytes;
        let traffic = Traffic::new(sender, time.own_time(), trouble.clone(), max_kept);
        let (rule, began_main) = (Arc::clone(&parts.output), Arc::clone(began_main));
        (Call::new(session, traffic, trouble, rights, rule, began_main), time)
    }

    async fn invoke(
        &self,
        binding: &Binding,
        invocation: Invocation,
        course: Course,
        began_main: &Arc<AtomicBool>,
    ) -> Result<JsonText, Failure> {
        let component = self.bound(binding).await?;
        let parts = tool(&component, &invocation.tool)?;
        let (call, time) = self.call(&component, parts, &invocation, course, began_main);
        let traffic = Arc::clone(&call.traffic);
        let attempt = async {
            let mut attempt = self.begin(&component, &invocation, call).await?;
            let handler = attempt.tool.tether_tool_handler();
            let answer = handler.call_invoke(&mut attempt.store, &handed_over(&invocation)).await?;
            Ok(answer.map_err(|error| attempt.explain(told(error))))
        };
        let ended = time.within(&self.machine, attempt).await.flatten();
        Ok(parts.output.result(traffic.close(ended).await?)?)
    }

    async fn show(
        &self,
        binding: &Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> Result<Option<String>, Failure> {
        let component = self.bound(binding).await?;
        let parts = tool(&component, &invocation.tool)?;
        let course = Course::Read(allowance);
        let (call, time) = self.call(&component, parts, &invocation, course, &Arc::default());
        let traffic = Arc::clone(&call.traffic);
        let attempt = async {
            let mut attempt = self.begin(&component, &invocation, call).await?;
            let handler = attempt.tool.tether_tool_handler();
            let answer = handler.call_preview(&mut attempt.store, &handed_over(&invocation)).await?;
            Ok(answer.map_err(|error| attempt.explain(told(error))))
        };
        let ended = time.within(&self.machine, attempt).await.flatten();
        let text = traffic.close(ended).await?;
        Ok(text.map(|text| plain(text.trim(), Preview::LONGEST)).filter(|text| !text.is_empty()))
    }

    async fn begin(
        &self,
        component: &Component,
        invocation: &Invocation,
        call: Call,
    ) -> wasmtime::Result<Attempt> {
        let errand = Errand::Call(Box::new(call));
        Attempt::begin(&self.machine, &component.code, speaker(invocation), errand).await
    }
}

fn tool<'a>(component: &'a Component, name: &ToolName) -> Result<&'a ToolParts, Failure> {
    let missing = || Failure::new(Cause::Failed, format!("this component has no tool `{name}`"));
    component.tools.get(name).ok_or_else(missing)
}

fn speaker(invocation: &Invocation) -> GuestName {
    GuestName {
        request_id: invocation.request_id.to_string(),
        tool: invocation.tool.to_string(),
        arguments: Some(invocation.arguments.clone()),
    }
}

fn handed_over(invocation: &Invocation) -> types::Invocation {
    types::Invocation {
        request_id: invocation.request_id.to_string(),
        tool: invocation.tool.to_string(),
        tenant: invocation.tenant.to_string(),
        user: invocation.user.to_string(),
        arguments: invocation.arguments.as_str().to_owned(),
        attempt: invocation.attempt,
        timeout_ms: u32::try_from(invocation.timeout.as_millis()).unwrap_or(u32::MAX),
    }
}

/// Runs what blocks on a thread for that. A panic there goes on here.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl Handlers for Runner {
    fn offers(&self) -> Vec<Arc<Offer>> {
        self.catalogue.offers()
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.catalogue.offer(tool)
    }

    fn fits<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async move {
            let component = match self.bound(binding).await {
                Ok(component) => component,
                Err(Missing::Outdated(why)) => return Ok(Err(Outdated(why))),
                Err(Missing::Unreachable(why)) => return Err(Unreachable(why).into()),
            };
            let scope = scope(tenant, &component.binding, Arc::clone(&component.migrations));
            let fit = self.databases.fit(&scope).await?;
            Ok(fit.map_err(|unfit| Outdated(unfit.to_string())))
        })
    }

    fn preview<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(self.show(binding, invocation, allowance))
    }

    fn read<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(
            async move { self.invoke(binding, invocation, Course::Read(allowance), &Arc::default()).await },
        )
    }

    fn write<'a>(
        &'a self,
        binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        Box::pin(async move {
            let began_main = Arc::default();
            let result = self.invoke(binding, invocation, Course::Write(journal), &began_main).await;
            WriteReport { result, began_main: began_main.load(Ordering::Acquire) }
        })
    }

    fn records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async move {
            match self.scope(tenant, binding).await {
                Some(scope) => self.databases.records(&scope, key).await,
                None => Ok(Vec::new()),
            }
        })
    }

    fn empty_records<'a>(
        &'a self,
        tenant: &'a TenantId,
        binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            match self.scope(tenant, binding).await {
                Some(scope) => {
                    fault::reached(Point::BeforeEmpty);
                    self.databases.empty_records(&scope, key).await
                }
                None => Ok(()),
            }
        })
    }

    fn retain(&self, needed: &[Digest]) {
        let needed = self.catalogue.retain(needed);
        if let Err(error) = self.kept.retain(&needed) {
            tracing::warn!("kept components that nobody needs could not be deleted: {error}");
        }
    }
}
