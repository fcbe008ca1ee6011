//! Handlers that do as they are told, on a database in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::schema::Schema;
use tether_core::tool::{Offer, Tool, ToolEffect};

use super::{Fuse, json};

/// What one attempt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Commits and returns another output than it recorded.
    Commit,
    /// Commits, then fails.
    CommitThenFail(Cause),
    /// Fails before it commits.
    Fail(Cause),
    /// Commits a step only, then fails.
    StepThenFail(Cause),
    /// Begins the main transaction, drops it, and says that all is well.
    Pretend,
    /// Waits until the test lets it go on, then commits.
    Wait,
    /// Panics.
    Panic,
}

pub(crate) struct ScriptedHandlers {
    acts: Vec<Act>,
    pub(crate) runs: AtomicUsize,
    pub(crate) previews: AtomicUsize,
    pub(crate) records: Mutex<Vec<(RequestId, Record)>>,
    pub(crate) unreachable: Mutex<bool>,
    pub(crate) outdated: Mutex<bool>,
    pub(crate) refuses_previews: Mutex<Option<Cause>>,
    pub(crate) go_on: tokio::sync::Notify,
    pub(crate) started: tokio::sync::Notify,
    fuse: Arc<Fuse>,
}

impl ScriptedHandlers {
    pub(crate) fn new(acts: &[Act], fuse: Arc<Fuse>) -> Self {
        Self {
            acts: acts.to_vec(),
            runs: AtomicUsize::new(0),
            previews: AtomicUsize::new(0),
            records: Mutex::default(),
            unreachable: Mutex::default(),
            outdated: Mutex::default(),
            refuses_previews: Mutex::default(),
            go_on: tokio::sync::Notify::new(),
            started: tokio::sync::Notify::new(),
            fuse,
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// Main records, that is effects: counted where they land.
    pub(crate) fn effects(&self) -> usize {
        self.records.lock().unwrap().iter().filter(|(_, record)| record.step.is_none()).count()
    }

    async fn commit(&self, invocation: &Invocation, step: Option<&str>) {
        self.fuse.step().await;
        let record = Record {
            database: "main".parse().unwrap(),
            step: step.map(|step| step.parse().unwrap()),
            attempt: invocation.attempt,
            at: Timestamp::EPOCH,
            output: json("{\"recorded\":1}"),
            statements: vec!["INSERT".into()],
        };
        {
            let mut records = self.records.lock().unwrap();
            let same =
                |(id, held): &(RequestId, Record)| *id == invocation.request_id && held.step == record.step;
            assert!(step.is_some() || !records.iter().any(same), "a second main record");
            records.push((invocation.request_id, record));
        }
        self.fuse.step().await;
    }

    async fn act(&self, invocation: Invocation) -> WriteReport {
        let attempt = self.runs.fetch_add(1, Ordering::SeqCst);
        let act = self.acts[attempt.min(self.acts.len() - 1)];
        self.started.notify_one();
        self.fuse.step().await;
        match act {
            Act::Fail(_) => {}
            Act::StepThenFail(_) => self.commit(&invocation, Some("step")).await,
            Act::Pretend => return WriteReport { result: Ok(json("1")), began_main: true },
            Act::Panic => panic!("scripted"),
            Act::Wait => {
                self.go_on.notified().await;
                self.commit(&invocation, None).await;
            }
            Act::Commit | Act::CommitThenFail(_) => self.commit(&invocation, None).await,
        }
        let result = match act {
            Act::Fail(cause) | Act::StepThenFail(cause) | Act::CommitThenFail(cause) => {
                Err(Failure::new(cause, "scripted"))
            }
            _ => Ok(json("{\"returned\":1}")),
        };
        WriteReport { result, began_main: !matches!(act, Act::Fail(_)) }
    }
}

fn offer(effect: ToolEffect) -> Arc<Offer> {
    let schema = json(r#"{"type":"object"}"#);
    Arc::new(Offer {
        tool: Tool {
            name: if effect == ToolEffect::Read { "read" } else { "write" }.parse().unwrap(),
            title: None,
            description: String::new(),
            effect,
            input_schema: schema.clone(),
            output_schema: None,
        },
        binding: Binding {
            component: "scripted".parse().unwrap(),
            digest: Digest::of("scripted"),
            grants: Default::default(),
        },
        input: Arc::new(Schema::compile(&schema).unwrap()),
    })
}

impl Handlers for ScriptedHandlers {
    fn offers(&self) -> Vec<Arc<Offer>> {
        vec![offer(ToolEffect::Read), offer(ToolEffect::Write)]
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.offers().into_iter().find(|offer| offer.tool.name == *tool)
    }

    fn fits<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, Unreachable>> {
        let outdated = *self.outdated.lock().unwrap();
        Box::pin(async move { Ok(if outdated { Err(Outdated("it changed".into())) } else { Ok(()) }) })
    }

    fn preview<'a>(
        &'a self,
        _binding: &'a Binding,
        _invocation: Invocation,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        self.previews.fetch_add(1, Ordering::SeqCst);
        let refused = *self.refuses_previews.lock().unwrap();
        Box::pin(async move {
            refused.map_or(Ok(Some("Write 1".into())), |cause| Err(Failure::new(cause, "scripted")))
        })
    }

    fn read<'a>(
        &'a self,
        _binding: &'a Binding,
        invocation: Invocation,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async move { self.act(invocation).await.result })
    }

    fn write<'a>(&'a self, _binding: &'a Binding, invocation: Invocation) -> BoxFuture<'a, WriteReport> {
        Box::pin(self.act(invocation))
    }

    fn records<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async move {
            self.fuse.step().await;
            if *self.unreachable.lock().unwrap() {
                return Err(Unreachable("scripted".into()));
            }
            let records = self.records.lock().unwrap();
            Ok(records.iter().filter(|(id, _)| *id == key).map(|(_, record)| record.clone()).collect())
        })
    }

    fn empty_records<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
        _key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async { Ok(()) })
    }

    fn retain(&self, _needed: &[Digest]) {}
}
