//! The way out as a host sets it up, with short times.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use tether_core::allowance::Allowance;
use tether_core::clock::{Clock, Timestamp};
use tether_core::destination::Destination;
use tether_core::id::RequestId;
use tether_core::port::BoxFuture;
use tether_core::retry::RetryPolicy;
use tether_transport::outbound::{Course, Names, Outbound, Request, Secrets, SendError, Sender, Settings};

use crate::journal::TestJournal;

pub(crate) const KEY: &str = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918";

/// The longest answer, in bytes.
pub(crate) const MOST: usize = 10_000;

pub(crate) fn key() -> RequestId {
    KEY.parse().unwrap()
}

pub(crate) fn settings() -> Settings {
    Settings {
        max_answer_bytes: MOST,
        max_request_bytes: 10_000,
        max_requests: 20,
        extra_roots: include_bytes!("tls/root.pem").to_vec(),
        secrets: Secrets::new(BTreeMap::from([("TOKEN".to_owned(), "s3cr3t".to_owned())])),
    }
}

pub(crate) fn outbound() -> Outbound {
    outbound_on(TestClock::new())
}

pub(crate) fn outbound_on(clock: Arc<TestClock>) -> Outbound {
    Outbound::with_names(settings(), clock, Arc::new(NoNames)).unwrap()
}

pub(crate) fn outbound_with(names: Arc<dyn Names>) -> Outbound {
    Outbound::with_names(settings(), TestClock::new(), names).unwrap()
}

/// The machine's time, with every wait noted.
pub(crate) struct TestClock {
    start: std::time::Instant,
    slept: Mutex<Vec<Duration>>,
    /// Waits that somebody still waits for.
    waiting: Arc<()>,
}

impl TestClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { start: std::time::Instant::now(), slept: Mutex::default(), waiting: Arc::default() })
    }
}

impl TestClock {
    /// In milliseconds, oldest first.
    pub(crate) fn slept(&self) -> Vec<u128> {
        self.slept.lock().unwrap().iter().map(Duration::as_millis).collect()
    }

    pub(crate) fn waiting(&self) -> usize {
        Arc::strong_count(&self.waiting) - 1
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.after(Duration::from_secs(1_000_000_000) + self.start.elapsed())
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()> {
        self.slept.lock().unwrap().push(span);
        let waiting = self.waiting.clone();
        Box::pin(async move {
            tokio::time::sleep(span).await;
            drop(waiting);
        })
    }
}

/// An allowance of so many attempts, each with so much time.
pub(crate) fn allowance(attempts: u32, timeout: Duration) -> Arc<Allowance> {
    allowance_on(TestClock::new(), attempts, timeout)
}

pub(crate) fn allowance_on(clock: Arc<TestClock>, attempts: u32, timeout: Duration) -> Arc<Allowance> {
    let policy = RetryPolicy::try_new(attempts, timeout).unwrap();
    Arc::new(Allowance::new(policy, clock, || 0.0))
}

/// The product's: three attempts. The time is longer than any test takes.
pub(crate) fn three() -> Arc<Allowance> {
    allowance(3, Duration::from_secs(30))
}

/// A grant for everything at `origin`, which is the address itself.
pub(crate) fn grant(origin: &str) -> Destination {
    format!("{origin}\tDELETE,GET,HEAD,OPTIONS,POST,PUT\tQUERY\t\t").parse().unwrap()
}

pub(crate) fn reader(destinations: &[Destination]) -> Arc<Sender> {
    outbound().sender(destinations, key(), Course::Read(three()))
}

pub(crate) fn writer(destinations: &[Destination]) -> (Arc<Sender>, Arc<TestJournal>) {
    let journal = TestJournal::new();
    (outbound().sender(destinations, key(), Course::Write(journal.clone())), journal)
}

pub(crate) fn request(method: &str, url: impl Into<String>) -> Request {
    let body = if matches!(method, "POST" | "PUT" | "QUERY") { "{\"n\":1}" } else { "" };
    Request {
        method: method.to_owned(),
        url: url.into(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(body.as_bytes()),
        step: None,
    }
}

pub(crate) fn with(mut request: Request, headers: &[(&'static str, &'static str)]) -> Request {
    for (name, value) in headers {
        request.headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    request
}

#[track_caller]
pub(crate) fn assert_denied<T: std::fmt::Debug>(outcome: Result<T, SendError>, says: &str) {
    match outcome {
        Err(SendError::Denied(why)) => assert!(why.contains(says), "{why}"),
        other => panic!("it is not denied: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_refused<T: std::fmt::Debug>(outcome: Result<T, SendError>, says: &str) {
    match outcome {
        Err(SendError::Refused(why)) => assert!(why.contains(says), "{why}"),
        other => panic!("it is not refused: {other:?}"),
    }
}

/// No name leads anywhere.
pub(crate) struct NoNames;

impl Names for NoNames {
    fn look_up(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Err(io::Error::other(format!("{name} is unknown"))) })
    }
}

/// Each look-up has the next answer; the last one goes on.
pub(crate) struct ChangingNames {
    answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl ChangingNames {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: answers.iter().map(addresses).collect(), asked: AtomicUsize::new(0) })
    }
}

impl Names for ChangingNames {
    fn look_up(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        let answer = self.answers[turn].clone();
        Box::pin(async move { Ok(answer) })
    }
}
