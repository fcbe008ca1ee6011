//! Handlers that do something else in every attempt, as chance will have it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tether_core::allowance::Allowance;
use tether_core::audit::Seen;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::id::{RequestId, StepName, TenantId, ToolName};
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::ledger::Answer;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{NotNow, Record, Unreachable};
use tether_core::port::handlers::{Handlers, Outdated, WriteReport};
use tether_core::port::journal::Journal;
use tether_core::tool::{Offer, ToolEffect};

use crate::outside::{Begun, Outside, returned};
use crate::world::{offer, request};

const CAUSES: [Cause; 7] = [
    Cause::TimedOut,
    Cause::Trapped,
    Cause::Transient,
    Cause::Unreachable,
    Cause::Limit,
    Cause::Refused,
    Cause::Failed,
];

/// What an attempt does before its end.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Commits a step.
    Step(&'static str),
    /// Sends a request that goes so.
    Send(Answer),
    /// Sends two at the same time.
    SendTwo,
    /// Gives a request up while it is noted.
    GiveUp,
    /// Takes its time.
    Wait,
    /// Leaves something behind that sends later, whether it is still wanted or not.
    Linger,
}

/// How it ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Commit,
    CommitThenFail(Cause),
    CommitThenPanic,
    /// The time is over in the middle of COMMIT, which nobody waits for.
    TimeOutInCommit,
    Fail(Cause),
    Panic,
    /// Begins the main transaction, drops it, and says that all is well.
    Pretend,
    /// Never meant to record anything.
    Plain,
}

pub(crate) struct SimulatedHandlers {
    outside: Arc<Outside>,
    offers: [Arc<Offer>; 1],
}

impl SimulatedHandlers {
    pub(crate) fn new(outside: Arc<Outside>) -> Self {
        Self { outside, offers: [offer(ToolEffect::Write)] }
    }

    fn some_acts(&self) -> Vec<Act> {
        let mut random = self.outside.random();
        let count = random.one_of(&[0, 0, 1, 1, 2, 3]);
        let mut some = || match random.below(10) {
            0..3 => Act::Step(random.one_of(&["a", "b"])),
            3..6 => {
                let answers = [Answer::Status(200), Answer::Status(503), Answer::InDoubt, Answer::NotSent];
                Act::Send(random.one_of(&answers))
            }
            6 => Act::SendTwo,
            7 => Act::GiveUp,
            8 => Act::Linger,
            _ => Act::Wait,
        };
        (0..count).map(|_| some()).collect()
    }

    fn some_end(&self) -> End {
        let mut random = self.outside.random();
        let cause = random.one_of(&CAUSES);
        match random.below(18) {
            0..4 => End::Commit,
            4..6 => End::CommitThenFail(cause),
            6 => End::CommitThenPanic,
            7..9 => End::TimeOutInCommit,
            9..12 => End::Fail(cause),
            12..15 => End::Panic,
            15 => End::Pretend,
            _ => End::Plain,
        }
    }

    async fn act(
        &self,
        act: Act,
        invocation: &Invocation,
        journal: &Arc<dyn Journal>,
    ) -> Result<(), Failure> {
        let (key, attempt) = (invocation.request_id, invocation.attempt);
        match act {
            Act::Step(name) => {
                let step: StepName = name.parse().unwrap();
                if let Begun::Fresh(turn) = self.outside.begin(key, Some(&step)).await? {
                    let outside = Arc::clone(&self.outside);
                    landed(tokio::spawn(outside.commit(key, attempt, Some(step), turn))).await;
                }
            }
            Act::Send(answer) => self.send(key, attempt, &**journal, answer).await,
            Act::SendTwo => {
                let one = self.send(key, attempt, &**journal, Answer::Status(200));
                let other = self.send(key, attempt, &**journal, Answer::InDoubt);
                tokio::join!(biased; one, other);
            }
            Act::GiveUp => {
                tokio::select! {
                    biased;
                    departure = journal.leaves(request()) => {
                        if let Ok(departure) = departure {
                            self.outside.see(key, Seen::Arrived { attempt });
                            journal.went(departure, Answer::Status(200));
                        }
                    }
                    () = self.outside.gates.pass() => {}
                }
            }
            Act::Wait => self.outside.gates.pass().await,
            Act::Linger => {
                let (outside, journal) = (Arc::clone(&self.outside), Arc::clone(journal));
                tokio::spawn(async move {
                    outside.gates.pass().await;
                    // Nothing comes between: what may leave has left.
                    if let Ok(departure) = journal.leaves(request()).await {
                        outside.see(key, Seen::Arrived { attempt });
                        outside.gates.pass().await;
                        journal.went(departure, Answer::Status(200));
                    }
                });
            }
        }
        Ok(())
    }

    async fn send(&self, key: RequestId, attempt: u32, journal: &dyn Journal, answer: Answer) {
        let Ok(departure) = journal.leaves(request()).await else { return };
        self.outside.gates.pass().await; // noted, and not sent yet
        if answer != Answer::NotSent {
            self.outside.see(key, Seen::Arrived { attempt });
        }
        self.outside.gates.pass().await; // sent, and not answered yet
        journal.went(departure, answer);
    }

    /// What the attempt says, and whether it began its main transaction.
    async fn end(&self, end: End, invocation: &Invocation) -> (Result<JsonText, Failure>, bool) {
        let (key, attempt) = (invocation.request_id, invocation.attempt);
        let fail = |cause| Err(Failure::new(cause, "simulated"));
        match end {
            End::Fail(cause) => return (fail(cause), false),
            End::Panic => self.panic(key, attempt),
            End::Plain => return (Ok(returned(attempt)), false),
            _ => {}
        }
        let turn = match self.outside.begin(key, None).await {
            Ok(Begun::Fresh(turn)) => turn,
            Ok(Begun::Recorded) => return (Ok(returned(attempt)), true),
            Err(failure) => return (Err(failure), true),
        };
        if matches!(end, End::Pretend) {
            return (Ok(returned(attempt)), true);
        }
        let commit = tokio::spawn(Arc::clone(&self.outside).commit(key, attempt, None, turn));
        if matches!(end, End::TimeOutInCommit) {
            return (fail(Cause::TimedOut), true);
        }
        landed(commit).await;
        match end {
            End::CommitThenFail(cause) => (fail(cause), true),
            End::CommitThenPanic => self.panic(key, attempt),
            _ => (Ok(returned(attempt)), true),
        }
    }

    fn panic(&self, key: RequestId, attempt: u32) -> ! {
        self.outside.panics.fetch_add(1, Ordering::SeqCst);
        self.outside.see(key, Seen::Ended { attempt, done: false });
        // Without the message of a panic that nobody meant.
        std::panic::resume_unwind(Box::new("simulated"))
    }

    async fn attempt(&self, invocation: Invocation, journal: Arc<dyn Journal>) -> WriteReport {
        let (key, attempt) = (invocation.request_id, invocation.attempt);
        self.outside.see(key, Seen::Began { attempt });
        let (acts, end) = (self.some_acts(), self.some_end());
        self.outside.gates.pass().await;
        let mut failed = None;
        for act in acts {
            if let Err(failure) = self.act(act, &invocation, &journal).await {
                failed = Some(failure);
                break;
            }
        }
        let (result, began_main) = match failed {
            Some(failure) => (Err(failure), false),
            None => self.end(end, &invocation).await,
        };
        self.outside.see(key, Seen::Ended { attempt, done: result.is_ok() && !began_main });
        WriteReport { result, began_main }
    }
}

async fn landed(commit: tokio::task::JoinHandle<()>) {
    commit.await.expect("a commit never panics");
}

impl Handlers for SimulatedHandlers {
    fn offers(&self) -> Vec<Arc<Offer>> {
        self.offers.to_vec()
    }

    fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.offers.iter().find(|offer| offer.tool.name == *tool).cloned()
    }

    fn fits<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
    ) -> BoxFuture<'a, Result<Result<(), Outdated>, NotNow>> {
        Box::pin(async move {
            self.outside.gates.pass().await;
            self.outside.check_reachable()?;
            if self.outside.full.load(Ordering::SeqCst) {
                return Err(NotNow::StorageFull { database: "main".parse().unwrap() });
            }
            let outdated = self.outside.outdated.load(Ordering::SeqCst);
            Ok(if outdated { Err(Outdated("it changed".into())) } else { Ok(()) })
        })
    }

    fn preview<'a>(
        &'a self,
        _binding: &'a Binding,
        _invocation: Invocation,
        _allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            self.outside.gates.pass().await;
            let cause =
                self.outside.random().one_of(&[None, None, None, Some(Cause::Trapped), Some(Cause::Refused)]);
            cause.map_or(Ok(Some("Write".into())), |cause| Err(Failure::new(cause, "simulated")))
        })
    }

    fn read<'a>(
        &'a self,
        _binding: &'a Binding,
        _invocation: Invocation,
        _allowance: Arc<Allowance>,
    ) -> BoxFuture<'a, Result<JsonText, Failure>> {
        unreachable!("no read is offered")
    }

    fn write<'a>(
        &'a self,
        _binding: &'a Binding,
        invocation: Invocation,
        journal: Arc<dyn Journal>,
    ) -> BoxFuture<'a, WriteReport> {
        Box::pin(self.attempt(invocation, journal))
    }

    fn records<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(self.outside.records(key))
    }

    fn empty_records<'a>(
        &'a self,
        _tenant: &'a TenantId,
        _binding: &'a Binding,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(self.outside.empty(key))
    }

    fn retain(&self, _needed: &[Digest]) {}
}
