//! A hook over days, and over a store that fails: the real store, a real listener, a clock
//! that jumps.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use tether_core::id::ActionId;
use tether_core::port::BoxFuture;
use tether_core::port::actions::{NewAction, Proposed};
use tether_core::port::hooks::Due;
use tether_store::SqliteActions;
use tether_transport::errand::Reach;
use tether_transport::outbound::{Secrets, Settings};

use super::*;
use crate::scratch::Scratch;

/// Every wait is over at once, and ten minutes later.
struct JumpingClock {
    seconds: Arc<AtomicU64>,
    /// Where there is one, no wait is over while a notice of it is due: the jumps never
    /// outrun the network.
    waits_for: OnceLock<Arc<SqliteActions>>,
}

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.after(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.seconds.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        let (seconds, store) = (Arc::clone(&self.seconds), self.waits_for.get().cloned());
        let now = self.now();
        Box::pin(async move {
            // Others run meanwhile.
            tokio::time::sleep(Duration::from_millis(2)).await;
            while let Some(store) = &store
                && !store.due("hook", now, 1).await.unwrap().is_empty()
            {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            seconds.fetch_add(600, Ordering::SeqCst);
        })
    }
}

/// Takes notices as it is told, and keeps the ids of all that came.
struct Receiver {
    address: SocketAddr,
    came: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn new(answer: impl Fn(&str) -> StatusCode + Clone + Send + Sync + 'static) -> Self {
        let came = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&came);
        let take = move |headers: HeaderMap| {
            let id = headers["webhook-id"].to_str().unwrap().to_owned();
            let status = answer(&id);
            log.lock().unwrap().push(id);
            async move { status }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, Router::new().route("/", post(take))).into_future());
        Self { address, came }
    }

    /// How often each came.
    fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for id in &*self.came.lock().unwrap() {
            *counts.entry(id.clone()).or_default() += 1;
        }
        counts
    }
}

/// The store, whose disk is full when it should note the first deliveries.
struct FullAtFirst {
    store: Arc<SqliteActions>,
    failures_left: AtomicU32,
}

impl Hooks for FullAtFirst {
    fn cursor<'a>(&'a self, hook: &'a str) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        self.store.cursor(hook)
    }

    fn take<'a>(
        &'a self,
        hook: &'a str,
        events: Vec<(u64, ActionId)>,
        cursor: u64,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.take(hook, events, cursor, at)
    }

    fn keep_only(&self, names: Vec<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.keep_only(names)
    }

    fn due<'a>(
        &'a self,
        hook: &'a str,
        now: Timestamp,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Due>, StoreError>> {
        self.store.due(hook, now, limit)
    }

    fn delivered<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let left =
            self.failures_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => Box::pin(async { Err(StoreError::Full) }),
            Err(_) => self.store.delivered(hook, number),
        }
    }

    fn failed<'a>(
        &'a self,
        hook: &'a str,
        number: u64,
        next_at: Timestamp,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.failed(hook, number, next_at)
    }

    fn given_up<'a>(&'a self, hook: &'a str, number: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.given_up(hook, number)
    }
}

struct World {
    store: Arc<SqliteActions>,
    clock: Arc<JumpingClock>,
    _folder: Scratch,
}

impl World {
    fn new() -> Self {
        let folder = Scratch::new().unwrap();
        let store = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
        let clock = JumpingClock { seconds: Arc::new(AtomicU64::new(1_000)), waits_for: OnceLock::new() };
        Self { store, clock: Arc::new(clock), _folder: folder }
    }

    /// Tells `receiver`, keeping the queue in `hooks`.
    async fn telling(&self, receiver: &Receiver, hooks: Arc<dyn Hooks>) -> JoinSet<()> {
        let settings = Settings {
            max_answer_bytes: 1_000,
            max_request_bytes: 1_000,
            max_requests: 1,
            extra_roots: Vec::new(),
            secrets: Secrets::default(),
        };
        let outbound = Outbound::new(settings, self.clock.clone()).unwrap();
        let hook = Webhook {
            name: "hook".to_owned(),
            address: Address::parse(&format!("http://{}/", receiver.address), Reach::Operators).unwrap(),
            kinds: Kind::ALL.into(),
            format: Format::Tether,
            key: None,
            tenant: None,
        };
        let (feed, actions, clock) = (self.store.clone(), self.store.clone(), self.clock.clone());
        let sources = Sources { hooks, feed, actions, clock, inbox: "http://127.0.0.1:1".into() };
        start(vec![hook], sources, &outbound).await.unwrap()
    }

    async fn propose(&self, number: u64) {
        let Action { proposal, .. } = action("Void ticket 42");
        let new = NewAction {
            id: format!("{number:032x}").parse().unwrap(),
            proposal,
            expires_at: Timestamp::from_millis(i64::MAX),
            key: None,
            channel: Some(Channel::Api),
            max_open: None,
        };
        assert!(matches!(self.store.propose(new).await.unwrap(), Proposed::New(_)));
    }

    /// Waits until nothing is queued any more.
    async fn until_told(&self) {
        let told = async {
            while self.store.cursor("hook").await.unwrap() < Some(self.store.newest().await.unwrap())
                || !self.store.due("hook", Timestamp::from_millis(i64::MAX), 1).await.unwrap().is_empty()
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), told).await.expect("it comes to an end");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notice_that_is_never_taken_is_tried_for_three_days_and_holds_up_nobody() {
    let world = World::new();
    assert!(world.clock.waits_for.set(world.store.clone()).is_ok());
    let refused = format!("{:032x}.", 1);
    let receiver = Receiver::new(move |id| match id.starts_with(&refused) {
        true => StatusCode::BAD_REQUEST,
        false => StatusCode::OK,
    })
    .await;
    let _telling = world.telling(&receiver, world.store.clone()).await;
    let began = world.clock.monotonic();
    for number in 1..=20 {
        world.propose(number).await;
    }
    world.until_told().await;
    let days = (world.clock.monotonic() - began).as_secs_f64() / 86_400.0;
    assert!(days > 2.9, "it was given up after {days} days");
    let counts = receiver.counts();
    assert_eq!(counts.len(), 20);
    // One at once, ten after up to 512 s, which is a jump each, one after 1024 s and one
    // after 2048 s, and one an hour for the rest of three days.
    let tries = counts.values().filter(|count| **count > 1).collect::<Vec<_>>();
    assert_eq!(tries, [&82], "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_noted_is_not_sent_again_meanwhile() {
    let world = World::new();
    let receiver = Receiver::new(|_| StatusCode::NO_CONTENT).await;
    let hooks = FullAtFirst { store: world.store.clone(), failures_left: AtomicU32::new(20) };
    let _telling = world.telling(&receiver, Arc::new(hooks)).await;
    for number in 1..=10 {
        world.propose(number).await;
    }
    world.until_told().await;
    assert!(receiver.counts().values().all(|count| *count == 1), "{:?}", receiver.counts());
    assert_eq!(receiver.counts().len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_is_told_what_happens_from_its_first_start_on_and_goes_on_from_there() {
    let world = World::new();
    let receiver = Receiver::new(|_| StatusCode::OK).await;
    world.propose(1).await;
    let telling = world.telling(&receiver, world.store.clone()).await;
    world.propose(2).await;
    world.until_told().await;
    drop(telling);
    world.propose(3).await;
    let _telling = world.telling(&receiver, world.store.clone()).await;
    world.until_told().await;
    let ids: Vec<_> = receiver.counts().into_iter().map(|(id, count)| (id[..32].to_owned(), count)).collect();
    assert_eq!(ids, [2, 3].map(|number| (format!("{number:032x}"), 1)));
}
