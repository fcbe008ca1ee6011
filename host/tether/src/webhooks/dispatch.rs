//! From the histories to one hook: looked through, queued, delivered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tether_core::mask::Mask;
use tether_core::port::actions::StoreError;
use tether_transport::errand::Errands;
use tether_transport::outbound::Outbound;
use tokio::task::{Id, JoinSet};

use super::{Sources, Webhook};

/// Notices to one hook that are under way at once, each of another action.
const AT_ONCE: usize = 4;

/// Events that are looked through at once.
const LOOKED_THROUGH: usize = 256;

/// The place in the history is kept with every event that is queued, and at least once in
/// so many: looking through others again costs less than noting each of them.
const PASSED_OVER: u64 = 10_000;

/// How often the queue is looked at for what is due again.
const TICK: Duration = Duration::from_secs(1);

/// A store that failed is asked again after so long.
pub(super) const PAUSE: Duration = Duration::from_secs(5);

/// A receiver that asks to be left alone gets nothing at all for so long at most: what it
/// said was about one notice.
const LEFT_ALONE: Duration = Duration::from_secs(3600);

/// Tells one hook.
pub(super) struct Dispatcher {
    pub(super) hook: Webhook,
    pub(super) errands: Errands,
    /// Hides where it is.
    pub(super) mask: Mask,
    pub(super) sources: Sources,
    /// Whether the last notice was not taken.
    pub(super) refuses: AtomicBool,
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
