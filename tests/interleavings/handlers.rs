//! Handlers that see to it that no attempt runs beside another.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use shuttle::future::yield_now;
use tether_core::allowance::Allowance;
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::schema::Schema;
use tether_core::tool::{Offer, Tool, ToolEffect};
use tether_interleavings::{die, meet};
use tokio::sync::Notify;

use crate::store::Actions;
use crate::world::{binding, json};

/// What one attempt of a write does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Commits its main record.
    Commit,
    /// Has its effect elsewhere, and returns without a record.
    Return,
    /// Fails in passing.
    Fail,
    /// Its task dies.
    Die,
}

/// See [`Act`].
pub(crate) struct Scripted {
    acts: Vec<Act>,
    actions: Arc<Actions>,
    seen: Mutex<Seen>,
    started: Notify,
    died: Notify,
}

#[derive(Default)]
struct Seen {
    runs: usize,
    inside: HashSet<RequestId>,
    /// Whose reads are inside their handler.
    reads: Vec<TenantId>,
    effects: Vec<RequestId>,
    records: Vec<(RequestId, Record)>,
    /// Whether the databases do not answer, now and after each attempt.
    away: bool,
    stays_away: bool,
    /// No attempt may begin any more.
    closed: bool,
}

/// An attempt is inside its handler.
struct Inside<'a>(&'a Scripted, &'a Invocation);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut seen = self.0.seen.lock().unwrap();
        seen.inside.remove(&self.1.request_id);
        seen.away = seen.stays_away;
        self.0.actions.ended(self.1.request_id, self.1.attempt);
    }
}

impl Scripted {
    pub(crate) fn new(acts: &[Act], actions: Arc<Actions>) -> Self {
        Self {
            acts: acts.to_vec(),
            actions,
            seen: Mutex::default(),
            started: Notify::new(),
            died: Notify::new(),
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.seen.lock().unwrap().runs
    }

    /// Attempts that are inside their handler.
    pub(crate) fn inside(&self) -> usize {
        self.seen.lock().unwrap().inside.len()
    }

    /// What writes came to, counted where it lands.
    pub(crate) fn effects(&self) -> usize {
        self.seen.lock().unwrap().effects.len()
    }

    /// Waits until an attempt is inside its handler.
    pub(crate) async fn start(&self) {
        self.started.notified().await;
    }

    /// Waits until an attempt's task dies.
    pub(crate) async fn death(&self) {
        self.died.notified().await;
    }

    /// From now on no attempt begins.
    pub(crate) fn close(&self) {
        self.seen.lock().unwrap().closed = true;
    }

    /// From now on the first question for records after an attempt gets no answer.
    pub(crate) fn stay_away(&self) {
        self.seen.lock().unwrap().stays_away = true;
    }

    async fn attempt(&self, invocation: Invocation) -> WriteReport {
        let act = {
            let mut seen = self.seen.lock().unwrap();
            assert!(seen.inside.insert(invocation.request_id), "an attempt beside another");
            assert!(!seen.closed, "an attempt that begins when all was idle");
            seen.runs += 1;
            self.acts[seen.runs - 1]
        };
        self.started.notify_one();
        let _inside = Inside(self, &invocation);
        yield_now().await;
        match act {
            Act::Commit => self.seen.lock().unwrap().commit(&invocation),
            Act::Return => self.seen.lock().unwrap().effects.push(invocation.request_id),
            Act::Fail => {
                let failure = Failure::new(Cause::Transient, "scripted");
                return WriteReport { result: Err(failure), began_main: false };
            }
            Act::Die => {
                self.died.notify_one();
                die().await;
            }
        }
        WriteReport { result: Ok(json("1")), began_main: matches!(act, Act::Commit) }
    }
}

impl Seen {
    fn commit(&mut self, invocation: &Invocation) {
        self.effects.push(invocation.request_id);
        let record = Record {
            database: "main".parse().unwrap(),
            step: None,
            attempt: invocation.attempt,
            at: Timestamp::EPOCH,
            output: json("1"),
            statements: Vec::new(),
        };
        self.records.push((invocation.request_id, record));
    }
}

impl Handlers for Scripted {
    fn offers(&self) -> Vec<Arc<Offer>> {
        Vec::new()
    }

    fn offer(&self, name: &ToolName) -> Option<Arc<Offer>> {
        let schema = json("{}");
        let tool = Tool {
            name: name.clone(),
            title: None,
            description: String::new(),
            effect: ToolEffect::Read,
            input_schema: schema.clone(),
            output_schema: None,
        };
        let input = Arc::new(Schema::compile(&schema).unwrap());
        Some(Arc::new(Offer { tool, binding: binding(), input }))
    }

    fn fits<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async { Ok(Ok(())) })
    }

    fn preview<'a>(
        &'a self,
        _binding: &'a Binding,
        _invocation: Invocation,
        _allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    fn read<'a>(
        &'a self,
        _binding: &'a Binding,
        invocation: Invocation,
        _allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async move {
            let _reading = Reading::new(self, &invocation.tenant);
            yield_now().await;
            Ok(json("1"))
        })
    }

    fn write<'a>(
        &'a self,
        _binding: &'a Binding,
        invocation: Invocation,
        _journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        Box::pin(self.attempt(invocation))
    }

    fn records<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async move {
            meet();
            let answer = {
                let mut seen = self.seen.lock().unwrap();
                if std::mem::take(&mut seen.away) {
                    Err(Unreachable("scripted".to_owned()))
                } else {
                    let mine = seen.records.iter().filter(|(of, _)| *of == key);
                    Ok(mine.map(|(_, record)| record.clone()).collect())
                }
            };
            meet();
            answer
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

/// A read is inside its handler: of each tenant one, in these worlds.
struct Reading<'a>(&'a Scripted, &'a TenantId);

impl<'a> Reading<'a> {
    fn new(handlers: &'a Scripted, tenant: &'a TenantId) -> Self {
        let mut seen = handlers.seen.lock().unwrap();
        assert!(!seen.reads.contains(tenant), "two in the one place that their tenant has");
        seen.reads.push(tenant.clone());
        assert!(seen.reads.len() <= 2, "three in two places");
        Self(handlers, tenant)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.seen.lock().unwrap().reads.retain(|tenant| tenant != self.1);
    }
}
