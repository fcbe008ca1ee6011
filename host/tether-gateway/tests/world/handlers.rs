//! Handlers that do as they are told, on a database in memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tether_core::allowance::Allowance;
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::{RequestId, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::ledger::{Answer, Request};
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::{Journal, NotNoted};
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
    /// Sends a request that is answered so, and goes on.
    Send(Answer, Then),
    /// Sends so many at the same time, all of them answered, and goes on.
    SendAll(usize, Then),
    /// Gives a request up while it is noted, and fails.
    GiveUp(Cause),
    /// A read: sends a request that fails in passing, at most so often again, and fails.
    Resend(usize),
}

/// What an attempt does after it sent something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Commit,
    Fail(Cause),
    Panic,
}

/// What an attempt is given to send with.
enum Course {
    Read(Arc<Allowance>),
    Write(Arc<dyn Journal>),
}

pub(crate) struct ScriptedHandlers {
    acts: Vec<Act>,
    pub(crate) runs: AtomicUsize,
    pub(crate) previews: AtomicUsize,
    pub(crate) records: Mutex<Vec<(RequestId, Record)>>,
    /// Requests that a remote system got, by the attempt that sent them.
    pub(crate) upstream: Mutex<Vec<u32>>,
    /// The journal of the last attempt of a write.
    pub(crate) journal: Mutex<Option<Arc<dyn Journal>>>,
    /// The writes whose records were emptied.
    pub(crate) emptied: Mutex<Vec<RequestId>>,
    /// Attempts wait for the test before they do anything.
    pub(crate) holds: AtomicBool,
    pub(crate) unreachable: Mutex<bool>,
    pub(crate) outdated: Mutex<bool>,
    /// The disk of the database.
    pub(crate) full: AtomicBool,
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
            upstream: Mutex::default(),
            journal: Mutex::default(),
            emptied: Mutex::default(),
            holds: AtomicBool::default(),
            unreachable: Mutex::default(),
            outdated: Mutex::default(),
            full: AtomicBool::default(),
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

    /// Requests that arrived somewhere: counted where they land.
    pub(crate) fn sent(&self) -> usize {
        self.upstream.lock().unwrap().len()
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

    async fn act(&self, invocation: Invocation, course: Course) -> WriteReport {
        let attempt = self.runs.fetch_add(1, Ordering::SeqCst);
        let act = self.acts[attempt.min(self.acts.len() - 1)];
        self.started.notify_one();
        self.fuse.step().await;
        if act == Act::Wait || self.holds.load(Ordering::SeqCst) {
            self.go_on.notified().await;
        }
        match (act, course) {
            (Act::StepThenFail(_), _) => self.commit(&invocation, Some("step")).await,
            (Act::Send(answer, _), Course::Write(journal)) => {
                if let Err(why) = self.send(invocation.attempt, &*journal, answer).await {
                    let cause = match why {
                        NotNoted::StorageFull => Cause::StorageFull,
                        NotNoted::Failed(_) => Cause::Unreachable,
                    };
                    let result = Err(Failure::new(cause, why.to_string()));
                    return WriteReport { result, began_main: false };
                }
            }
            (Act::SendAll(count, _), Course::Write(journal)) => self.send_all(count, journal).await,
            (Act::GiveUp(_), Course::Write(journal)) => {
                tokio::select! {
                    biased;
                    _ = journal.leaves(request()) => panic!("a note takes its time"),
                    () = std::future::ready(()) => {}
                }
            }
            (Act::Resend(most), Course::Read(allowance)) => self.resend(most, &allowance).await,
            _ => {}
        }
        let then = match act {
            Act::Pretend => return WriteReport { result: Ok(json("1")), began_main: true },
            Act::Send(_, then) | Act::SendAll(_, then) => then,
            Act::Panic => Then::Panic,
            Act::Fail(cause) | Act::StepThenFail(cause) | Act::GiveUp(cause) => Then::Fail(cause),
            Act::Resend(_) => Then::Fail(Cause::Transient),
            Act::Commit | Act::CommitThenFail(_) | Act::Wait => Then::Commit,
        };
        match then {
            Then::Panic => panic!("scripted"),
            Then::Fail(cause) => {
                return WriteReport { result: Err(Failure::new(cause, "scripted")), began_main: false };
            }
            Then::Commit => self.commit(&invocation, None).await,
        }
        let result = match act {
            Act::CommitThenFail(cause) => Err(Failure::new(cause, "scripted")),
            _ => Ok(json("{\"returned\":1}")),
        };
        WriteReport { result, began_main: true }
    }

    /// Sends a request, unless it cannot be noted.
    async fn send(&self, attempt: u32, journal: &dyn Journal, answer: Answer) -> Result<(), NotNoted> {
        let departure = journal.leaves(request()).await?;
        self.fuse.step().await; // noted, and not sent yet
        if answer != Answer::NotSent {
            self.upstream.lock().unwrap().push(attempt);
        }
        self.fuse.step().await; // sent, and not answered yet
        journal.went(departure, answer);
        Ok(())
    }

    async fn send_all(&self, count: usize, journal: Arc<dyn Journal>) {
        let mut sending = tokio::task::JoinSet::new();
        for _ in 0..count {
            let journal = Arc::clone(&journal);
            sending.spawn(async move {
                let departure = journal.leaves(request()).await.unwrap();
                journal.went(departure, Answer::Status(200));
            });
        }
        sending.join_all().await;
    }

    async fn resend(&self, most: usize, allowance: &Allowance) {
        self.upstream.lock().unwrap().push(0);
        for _ in 0..most {
            let failure = Failure::new(Cause::Transient, "scripted");
            let Some(pause) = allowance.next(&failure) else { return };
            allowance.sleep(pause).await;
            self.upstream.lock().unwrap().push(0);
        }
    }
}

pub(crate) fn request() -> Request {
    Request {
        method: "POST".parse().unwrap(),
        origin: "https://api.test".to_owned(),
        path: "/refunds".to_owned(),
        step: None,
    }
}

pub(crate) fn offer(effect: ToolEffect) -> Arc<Offer> {
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
        binding: Binding::Component(BoundComponent {
            component: "scripted".parse().unwrap(),
            digest: Digest::of("scripted"),
            grants: Default::default(),
        }),
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
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        let outdated = *self.outdated.lock().unwrap();
        let full = self.full.load(Ordering::SeqCst);
        Box::pin(async move {
            if full {
                return Err(NotNow::StorageFull { database: "main".parse().unwrap() });
            }
            Ok(if outdated { Err(Outdated("it changed".into())) } else { Ok(()) })
        })
    }

    fn preview<'a>(
        &'a self,
        _binding: &'a Binding,
        _invocation: Invocation,
        _allowance: Arc<Allowance>,
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
        allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        Box::pin(async move { self.act(invocation, Course::Read(allowance)).await.result })
    }

    fn write<'a>(
        &'a self,
        _binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        *self.journal.lock().unwrap() = Some(Arc::clone(&journal));
        Box::pin(self.act(invocation, Course::Write(journal)))
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
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            self.fuse.step().await;
            if *self.unreachable.lock().unwrap() {
                return Err(Unreachable("scripted".into()));
            }
            self.emptied.lock().unwrap().push(key);
            self.fuse.step().await;
            Ok(())
        })
    }

    fn retain(&self, _needed: &[Digest]) {}
}
