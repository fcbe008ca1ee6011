//! From the histories to one hook: taken, queued, delivered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tether_core::id::RequestId;
use tether_core::mask::Mask;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::hooks::Due;
use tether_transport::errand::Errands;
use tether_transport::outbound::{Outbound, SendError};
use tether_transport::retry_after;
use tokio::task::{Id, JoinSet};

use super::body::Notice;
use super::{Format, Sources, Webhook, slack, wait};

/// Notices to one hook that are under way at once, each of another action.
const AT_ONCE: usize = 4;

/// How long a receiver may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Events that are looked through at once.
const LOOKED_THROUGH: usize = 256;

/// The place in the history is kept with every event that is queued, and at least once in
/// so many: looking through others again costs less than noting each of them.
const PASSED_OVER: u64 = 10_000;

/// How often the queue is looked at for what is due again.
const TICK: Duration = Duration::from_secs(1);

/// A store that failed is asked again after so long.
const PAUSE: Duration = Duration::from_secs(5);

/// A receiver that asks to be left alone gets nothing at all for so long at most: what it
/// said was about one notice.
const LEFT_ALONE: Duration = Duration::from_secs(3600);

/// Tells one hook.
pub(super) struct Dispatcher {
    hook: Webhook,
    errands: Errands,
    /// Hides where it is.
    mask: Mask,
    sources: Sources,
    /// Whether the last notice was not taken.
    refuses: AtomicBool,
}

/// How far into the history a hook has come.
pub(super) struct Place {
    /// The last event that was looked through.
    seen: u64,
    /// The last that the store knows of.
    kept: u64,
}

/// Notices that are being delivered.
#[derive(Default)]
struct UnderWay {
    /// Each comes to how long the receiver wants to be left alone.
    tasks: JoinSet<Option<Duration>>,
    numbers: BTreeMap<Id, u64>,
}

/// What a try came to.
enum Tried {
    /// It was taken.
    Delivered,
    /// It was not.
    Refused { why: String, retry_after: Option<Duration> },
    /// It never will be.
    Over { why: String },
    /// The hook is not told of such events any more.
    NotWanted,
}

impl Dispatcher {
    pub(super) fn new(hook: Webhook, sources: Sources, outbound: &Outbound) -> Arc<Self> {
        let mask = Mask::new([hook.address.origin(), hook.address.host()]);
        let errands = outbound.errands_to(hook.address.clone());
        Arc::new(Self { hook, errands, mask, sources, refuses: AtomicBool::new(false) })
    }

    /// Where it goes on; a new hook begins with what comes now.
    pub(super) async fn begin(&self) -> Result<Place, StoreError> {
        let name = &self.hook.name;
        if let Some(cursor) = self.sources.hooks.cursor(name).await? {
            return Ok(Place { seen: cursor, kept: cursor });
        }
        let newest = self.sources.feed.newest().await?;
        self.sources.hooks.take(name, Vec::new(), newest, self.sources.clock.now()).await?;
        Ok(Place { seen: newest, kept: newest })
    }

    /// Tells the hook from `place` on, until it is dropped.
    pub(super) async fn run(self: Arc<Self>, mut place: Place) {
        let Sources { feed, clock, .. } = &self.sources;
        let (mut under_way, mut alone_until) = (UnderWay::default(), Duration::ZERO);
        let mut failing = false;
        loop {
            let is_left_alone = clock.monotonic() < alone_until;
            match self.round(&mut place, &mut under_way, is_left_alone).await {
                Ok(()) => failing = false,
                Err(error) => {
                    if !failing {
                        let hook = &self.hook.name;
                        tracing::error!(hook, %error, "looking after notices failed; it is tried again");
                    }
                    failing = true;
                    clock.sleep(PAUSE).await;
                }
            }
            tokio::select! {
                pause = under_way.next() => {
                    let pause = pause.unwrap_or_default().min(LEFT_ALONE);
                    alone_until = alone_until.max(clock.monotonic() + pause);
                }
                () = feed.written(place.seen) => {}
                () = clock.sleep(TICK) => {}
            }
        }
    }

    /// Queues what is new, and begins to deliver what is due.
    async fn round(
        self: &Arc<Self>,
        place: &mut Place,
        under_way: &mut UnderWay,
        is_left_alone: bool,
    ) -> Result<(), StoreError> {
        self.take(place).await?;
        let free = AT_ONCE - under_way.tasks.len();
        if free == 0 || is_left_alone {
            return Ok(());
        }
        // Those that are under way are due until their end is noted.
        let due = self.sources.hooks.due(&self.hook.name, self.sources.clock.now(), AT_ONCE + free).await?;
        for due in due.into_iter().filter(|due| !under_way.has(due.number)).take(free).collect::<Vec<_>>() {
            let (dispatcher, number) = (Arc::clone(self), due.number);
            under_way.add(number, async move { dispatcher.deliver(due).await });
        }
        Ok(())
    }

    async fn take(&self, place: &mut Place) -> Result<(), StoreError> {
        let events = self.sources.feed.after(place.seen, LOOKED_THROUGH).await?;
        let Some(last) = events.last().map(|event| event.number) else { return Ok(()) };
        let wanted = events.iter().filter(|event| self.hook.wants(event).is_some());
        let wanted: Vec<_> = wanted.map(|event| (event.number, event.action)).collect();
        if !wanted.is_empty() || last - place.kept >= PASSED_OVER {
            self.sources.hooks.take(&self.hook.name, wanted, last, self.sources.clock.now()).await?;
            place.kept = last;
        }
        place.seen = last;
        Ok(())
    }

    /// Tries once, and notes what came of it; how long the receiver wants to be left alone.
    async fn deliver(&self, due: Due) -> Option<Duration> {
        let tried = match self.send(&due).await {
            Ok(tried) => tried,
            Err(error) => Tried::Refused { why: error.to_string(), retry_after: None },
        };
        let (hook, number, action) = (&self.hook.name, due.number, due.action);
        let store = &self.sources.hooks;
        match tried {
            Tried::Delivered => {
                if self.refuses.swap(false, Ordering::Relaxed) {
                    tracing::info!(hook, "the webhook takes notices again");
                }
                self.noted(|| store.delivered(hook, number)).await;
                None
            }
            Tried::NotWanted => {
                self.noted(|| store.given_up(hook, number)).await;
                None
            }
            Tried::Over { why } => {
                tracing::warn!(hook, %action, why, "a notice is given up");
                self.noted(|| store.given_up(hook, number)).await;
                None
            }
            Tried::Refused { why, retry_after } => {
                let failures = due.failures.saturating_add(1);
                let next = wait::next(due.queued_at, self.sources.clock.now(), failures, retry_after);
                if let Some(next) = next {
                    if self.refuses.swap(true, Ordering::Relaxed) {
                        tracing::debug!(hook, %action, failures, why, "a notice was not taken again");
                    } else {
                        tracing::warn!(hook, %action, why, "a notice was not taken; it is tried again");
                    }
                    self.noted(|| store.failed(hook, number, next)).await;
                } else {
                    tracing::warn!(hook, %action, failures, why, "a notice is given up after three days");
                    self.noted(|| store.given_up(hook, number)).await;
                }
                retry_after
            }
        }
    }

    async fn send(&self, due: &Due) -> Result<Tried, StoreError> {
        let Sources { feed, actions, clock, inbox, .. } = &self.sources;
        let announced = feed.after(due.number.saturating_sub(1), 1).await?.into_iter().next();
        let Some(announced) = announced.filter(|found| found.number == due.number) else {
            return Ok(Tried::Over { why: "its event is gone".to_owned() });
        };
        // The hook may be configured otherwise than when this was queued.
        let Some(kind) = self.hook.wants(&announced) else { return Ok(Tried::NotWanted) };
        let Some(action) = actions.load(&announced.tenant, due.action).await? else {
            return Ok(Tried::Over { why: "its action is gone".to_owned() });
        };
        let url = format!("{inbox}/inbox/actions/{}", action.id);
        let body = match self.hook.format {
            Format::Tether => Notice::new(kind, &announced, &action, &url).to_json(),
            Format::Slack => slack::message(&announced, &action, &url),
        };
        let id = format!("{}.{}", action.id, announced.revision.0);
        let seconds = clock.now().as_millis().div_euclid(1000);
        let signature = self.hook.key.as_ref().map(|key| key.sign(&id, seconds, &body));
        let seconds = seconds.to_string();
        let mut headers = vec![("webhook-id", id.as_str()), ("webhook-timestamp", seconds.as_str())];
        headers.extend(signature.as_deref().map(|signature| ("webhook-signature", signature)));
        Ok(self.told(self.errands.post(RequestId::from(action.id), &headers, body, ANSWER_TIME).await))
    }

    fn told(&self, answer: Result<tether_transport::outbound::Response, SendError>) -> Tried {
        match answer {
            Ok(response) if response.status().is_success() => Tried::Delivered,
            Ok(response) if response.status() == 410 => Tried::Over { why: "it answered 410".to_owned() },
            Ok(response) => Tried::Refused {
                why: format!("it answered {}", response.status().as_u16()),
                retry_after: retry_after::of(&response, self.sources.clock.now()),
            },
            Err(error) => {
                let why = self.mask.apply(error.to_string().as_bytes()).into_owned();
                Tried::Refused { why: String::from_utf8_lossy(&why).into_owned(), retry_after: None }
            }
        }
    }

    /// Notes it, however long the store takes: what is not noted would be sent again at
    /// once.
    async fn noted<'a>(&self, mut note: impl FnMut() -> BoxFuture<'a, Result<(), StoreError>>) {
        let mut told = false;
        while let Err(error) = note().await {
            if !told {
                let hook = &self.hook.name;
                tracing::error!(hook, %error, "what became of a notice is not noted; it is tried again");
            }
            told = true;
            self.sources.clock.sleep(PAUSE).await;
        }
    }
}

impl UnderWay {
    fn add(&mut self, number: u64, delivery: impl Future<Output = Option<Duration>> + Send + 'static) {
        let id = self.tasks.spawn(delivery).id();
        self.numbers.insert(id, number);
    }

    fn has(&self, number: u64) -> bool {
        self.numbers.values().any(|known| *known == number)
    }

    /// Waits for the end of one; where none is under way, for good.
    async fn next(&mut self) -> Option<Duration> {
        let (id, pause) = match self.tasks.join_next_with_id().await {
            None => std::future::pending().await,
            Some(Ok((id, pause))) => (id, pause),
            Some(Err(error)) => {
                tracing::error!(%error, "a delivery ended before its time; it is tried again");
                (error.id(), Some(PAUSE))
            }
        };
        self.numbers.remove(&id);
        pause
    }
}
