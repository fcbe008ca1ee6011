//! Handlers that do as they are told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tether_core::allowance::Allowance;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::ledger::Request;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::schema::Schema;
use tether_core::tool::{Offer, Tool, ToolEffect};

/// The read `echo` answers its arguments, the read `wait` never does, the read
/// `refuse` refuses, and the write `write` does what comes next in `writes`, or
/// answers its arguments; told to send, it notes a request first that nobody answers.
#[derive(Default)]
pub(super) struct Scripted {
    pub(super) writes: Mutex<VecDeque<Failure>>,
    pub(super) sends: AtomicBool,
    pub(super) waiting: AtomicUsize,
    pub(super) cancelled: Arc<AtomicUsize>,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn tool(name: &str, effect: ToolEffect) -> Arc<Offer> {
    let input_schema = JsonText::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#).unwrap();
    let input = Arc::new(Schema::compile(&input_schema).unwrap());
    Arc::new(Offer {
        tool: Tool {
            name: name.parse().unwrap(),
            title: None,
            description: format!("the tool {name}"),
            effect,
            input_schema,
            output_schema: None,
        },
        binding: Binding::Component(BoundComponent {
            component: "scripted".parse().unwrap(),
            digest: Digest::of("scripted"),
            grants: "database main sqlite\n".parse().unwrap(),
        }),
        input,
    })
}

fn refund() -> Request {
    Request {
        method: "POST".parse().unwrap(),
        origin: "https://api.example.com".into(),
        path: "/refunds".into(),
        step: Some("refund".parse().unwrap()),
    }
}

impl Handlers for Scripted {
    fn offers(&self) -> Vec<Arc<Offer>> {
        let reads = ["echo", "refuse", "wait"].map(|name| tool(name, ToolEffect::Read));
        reads.into_iter().chain([tool("write", ToolEffect::Write)]).collect()
    }

    fn offer(&self, name: &ToolName) -> Option<Arc<Offer>> {
        self.offers().into_iter().find(|offer| offer.tool.name == *name)
    }

    fn fits<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async { Ok(Ok(())) })
    }

    fn preview<'a>(
        &'a self,
        _: &'a Binding,
        _: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async { Ok(Some("Write it".to_owned())) })
    }

    fn read<'a>(
        &'a self,
        _: &'a Binding,
        invocation: Invocation,
        _: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async move {
            match invocation.tool.as_str() {
                "wait" => {
                    let _counted = Counted(Arc::clone(&self.cancelled));
                    self.waiting.fetch_add(1, Ordering::SeqCst);
                    std::future::pending().await
                }
                "refuse" => {
                    let refused = Failure::new(Cause::Refused, "not today");
                    Err(Failure { handler_code: Some("NOT_TODAY".into()), ..refused })
                }
                _ => Ok(invocation.arguments),
            }
        })
    }

    fn write<'a>(
        &'a self,
        _: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        let next = self.writes.lock().unwrap().pop_front();
        let result = next.map_or(Ok(invocation.arguments), Err);
        Box::pin(async move {
            if self.sends.load(Ordering::SeqCst) {
                let _never_told = journal.leaves(refund()).await.unwrap();
            }
            WriteReport { result, began_main: false }
        })
    }

    fn records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn empty_records<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a Binding,
        _: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async { Ok(()) })
    }

    fn retain(&self, _: &[Digest]) {}
}
