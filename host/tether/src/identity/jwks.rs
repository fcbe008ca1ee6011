//! The keys of a provider: fetched, kept, and given up.
//!
//! A set is replaced as a whole, so that a key which the provider took away opens nothing
//! any more. Where the provider cannot be asked, the set goes on for a while, and then
//! opens nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{StatusCode, Uri};
use serde_json::Value;
use tether_core::clock::Clock;
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_transport::errand::Reach;
use tether_transport::outbound::Outbound;
use tokio::sync::Mutex as AsyncMutex;

use super::key::{Algorithm, KeySet};

/// Asks for a URL once; the body of a success, or why there is none.
pub type Fetch = Arc<dyn Fn(&str, Reach) -> BoxFuture<'static, Result<Bytes, String>> + Send + Sync>;

/// The provider is asked for an unknown key, or again after a failure, at most so often.
const AT_MOST_EACH: Duration = Duration::from_secs(30);

/// A set that could not be replaced goes on for so many times its time.
const GOES_ON: u32 = 12;

/// An answer of a provider may take so long.
const TIME: Duration = Duration::from_secs(5);

/// It may have so many bytes.
const MOST_BYTES: usize = 256 << 10;

/// Asks by way of `outbound`.
pub fn fetch(outbound: &Outbound) -> Fetch {
    let outbound = outbound.clone();
    Arc::new(move |url, reach| {
        let errands = outbound.errands(url, reach);
        Box::pin(async move {
            let errands = errands.map_err(|error| error.to_string())?;
            let answer = errands.get(TIME, MOST_BYTES).await.map_err(|error| error.to_string())?;
            match answer.status() {
                StatusCode::OK => Ok(answer.into_body()),
                status => Err(format!("it answered {status}")),
            }
        })
    })
}

/// Where keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeysAt {
    /// Where the provider's own description says (OpenID Connect Discovery 1.0).
    Discovery,
    /// At this URL, which the operator named.
    Url(String),
}

/// See the module.
pub(super) struct Keys {
    issuer: String,
    at: KeysAt,
    refresh: Duration,
    fetch: Fetch,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Held by whoever asks the provider.
    asking: AsyncMutex<()>,
}

#[derive(Default)]
struct State {
    set: Option<Arc<KeySet>>,
    /// When the set came.
    since: Duration,
    /// When the provider was last asked, and answered or did not.
    asked: Option<Duration>,
    failing: bool,
}

impl Keys {
    pub(super) fn new(
        issuer: String,
        at: KeysAt,
        refresh: Duration,
        fetch: Fetch,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let (state, asking) = (Mutex::default(), AsyncMutex::default());
        Arc::new(Self { issuer, at, refresh, fetch, clock, state, asking })
    }

    /// The keys as they are known now; none where they are unknown for too long.
    pub(super) fn now(&self) -> Option<Arc<KeySet>> {
        let state = self.state();
        let age = self.clock.monotonic().saturating_sub(state.since);
        state.set.clone().filter(|_| age <= self.refresh.saturating_mul(GOES_ON))
    }

    /// The keys, where one of them may be this one. A key that is known waits for nobody;
    /// for one that is not, the provider is asked, if it was not just now.
    pub(super) async fn with(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Option<Arc<KeySet>> {
        if let Some(set) = self.now().filter(|set| set.find(id, algorithm).is_some()) {
            return Some(set);
        }
        let keys = Arc::clone(self);
        // Whoever goes away leaves the answer to the others.
        let asked = tokio::spawn(async move {
            let _alone = keys.asking.lock().await;
            let now = keys.clock.monotonic();
            let lately = keys.state().asked.is_some_and(|asked| now.saturating_sub(asked) < AT_MOST_EACH);
            if !lately {
                keys.ask().await;
            }
        });
        if let Err(error) = asked.await {
            tracing::error!(%error, "the task that asked for keys ended");
        }
        self.now()
    }

    /// Keeps the keys fresh for as long as it is polled.
    pub(super) async fn keep(self: Arc<Self>) {
        loop {
            let well = {
                let _alone = self.asking.lock().await;
                self.ask().await
            };
            let pause = if well { self.refresh } else { self.refresh.min(AT_MOST_EACH) };
            self.clock.sleep(pause).await;
        }
    }

    /// Asks the provider. Whether there is a new set.
    async fn ask(&self) -> bool {
        let answer = self.answer().await;
        let now = self.clock.monotonic();
        let mut state = self.state();
        state.asked = Some(now);
        let was_failing = std::mem::replace(&mut state.failing, answer.is_err());
        match answer {
            Ok(set) => {
                tracing::debug!(issuer = self.issuer, keys = set.len(), "keys of the identity provider");
                if was_failing {
                    tracing::info!(issuer = self.issuer, "the identity provider's keys are there again");
                }
                (state.set, state.since) = (Some(Arc::new(set)), now);
                true
            }
            Err(error) => {
                // What lasts is told once.
                if !was_failing {
                    tracing::warn!(
                        issuer = self.issuer,
                        error,
                        "the identity provider's keys cannot be had; it is tried again"
                    );
                }
                false
            }
        }
    }

    async fn answer(&self) -> Result<KeySet, String> {
        let (url, reach) = match &self.at {
            KeysAt::Url(url) => (url.clone(), Reach::Operators),
            KeysAt::Discovery => self.discovered().await?,
        };
        let set = (self.fetch)(&url, reach).await.map_err(|why| format!("the keys: {why}"))?;
        let text = str::from_utf8(&set).map_err(|_| "the keys are not UTF-8")?;
        KeySet::parse(text).map_err(|why| format!("the keys: {why}"))
    }

    /// Where the provider says that its keys are.
    async fn discovered(&self) -> Result<(String, Reach), String> {
        let url = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let fetched = (self.fetch)(&url, Reach::Operators).await;
        let description = fetched.map_err(|why| format!("its description: {why}"))?;
        let text = str::from_utf8(&description).map_err(|_| "its description is not UTF-8")?;
        let description = JsonText::parse(text).map_err(|why| format!("its description: {why}"))?.to_value();
        let member = |name: &str| description.get(name).and_then(Value::as_str);
        if member("issuer") != Some(&self.issuer) {
            return Err("its description is that of another issuer".to_owned());
        }
        let keys = member("jwks_uri").ok_or("its description does not say where its keys are")?;
        let same = origin(keys).is_some_and(|keys| origin(&self.issuer) == Some(keys));
        Ok((keys.to_owned(), if same { Reach::Operators } else { Reach::Foreign }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scheme, host and port.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_owned();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::tests::given_clock::GivenClock;
    use crate::identity::tests::signer::Signer;

    const ISSUER: &str = "https://login.test";
    const REFRESH: Duration = Duration::from_secs(300);

    /// What is at each URL, and what was asked for.
    #[derive(Default)]
    struct Web {
        pages: Mutex<Vec<(String, String)>>,
        asked: Mutex<Vec<(String, Reach)>>,
    }

    impl Web {
        fn put(&self, url: &str, page: impl Into<String>) {
            let mut pages = self.pages.lock().unwrap();
            pages.retain(|(known, _)| known != url);
            pages.push((url.to_owned(), page.into()));
        }

        fn take_down(&self) {
            self.pages.lock().unwrap().clear();
        }

        fn count(&self) -> usize {
            self.asked.lock().unwrap().len()
        }

        fn fetch(self: &Arc<Self>) -> Fetch {
            let web = Arc::clone(self);
            Arc::new(move |url, reach| {
                web.asked.lock().unwrap().push((url.to_owned(), reach));
                let pages = web.pages.lock().unwrap();
                let page = pages.iter().find(|(known, _)| known == url).map(|(_, page)| page.clone());
                Box::pin(async move { page.map(Bytes::from).ok_or_else(|| "404".to_owned()) })
            })
        }
    }

    fn set(signers: &[&Signer]) -> String {
        let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
        serde_json::json!({ "keys": keys }).to_string()
    }

    fn keys(web: &Arc<Web>, at: KeysAt) -> (Arc<GivenClock>, Arc<Keys>) {
        let clock = Arc::new(GivenClock::default());
        (clock.clone(), Keys::new(ISSUER.to_owned(), at, REFRESH, web.fetch(), clock))
    }

    fn at_url() -> KeysAt {
        KeysAt::Url("http://10.0.0.1/keys".to_owned())
    }

    async fn has(keys: &Arc<Keys>, id: &str) -> bool {
        let set = keys.with(Some(id), Algorithm::EdDsa).await;
        set.is_some_and(|set| set.find(Some(id), Algorithm::EdDsa).is_some())
    }

    #[tokio::test]
    async fn an_unknown_key_is_asked_for_at_most_each_half_minute() {
        let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
        let web = Arc::new(Web::default());
        let (clock, keys) = keys(&web, at_url());
        web.put("http://10.0.0.1/keys", set(&[&old]));
        assert!(has(&keys, "old").await && has(&keys, "old").await);
        assert_eq!(web.count(), 1);
        // The provider rotates; who guesses ids moves it no sooner.
        web.put("http://10.0.0.1/keys", set(&[&new]));
        for id in ["new", "other", "new"] {
            assert!(!has(&keys, id).await);
        }
        assert_eq!(web.count(), 1);
        clock.advance(AT_MOST_EACH);
        assert!(has(&keys, "new").await);
        // The old key ends with its set.
        assert!(!has(&keys, "old").await);
        assert_eq!(web.count(), 2);
    }

    #[tokio::test]
    async fn many_who_ask_at_once_ask_once() {
        let signer = Signer::ed25519("k");
        let web = Arc::new(Web::default());
        let (_, keys) = keys(&web, at_url());
        web.put("http://10.0.0.1/keys", set(&[&signer]));
        let all: Vec<_> = (0..20)
            .map(|_| {
                let keys = Arc::clone(&keys);
                tokio::spawn(async move { has(&keys, "k").await })
            })
            .collect();
        for one in all {
            assert!(one.await.unwrap());
        }
        assert_eq!(web.count(), 1);
    }

    #[tokio::test]
    async fn where_the_provider_is_away_its_keys_go_on_for_a_while() {
        let signer = Signer::ed25519("k");
        let web = Arc::new(Web::default());
        let (clock, keys) = keys(&web, at_url());
        web.put("http://10.0.0.1/keys", set(&[&signer]));
        assert!(has(&keys, "k").await);
        web.take_down();
        clock.advance(REFRESH * GOES_ON);
        assert!(has(&keys, "k").await);
        clock.advance(Duration::from_secs(1));
        assert!(!has(&keys, "k").await);
    }

    #[tokio::test]
    async fn keys_are_kept_fresh_and_a_failure_is_tried_again_sooner() {
        let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
        let web = Arc::new(Web::default());
        let (clock, keys) = keys(&web, at_url());
        clock.hold();
        let keeping = tokio::spawn(Arc::clone(&keys).keep());
        clock.until_slept(1).await;
        assert!(keys.now().is_none());
        web.put("http://10.0.0.1/keys", set(&[&old]));
        clock.release();
        while clock.slept().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert!(keys.now().unwrap().find(Some("old"), Algorithm::EdDsa).is_some());
        web.put("http://10.0.0.1/keys", set(&[&new]));
        clock.release();
        while clock.slept().len() < 3 {
            tokio::task::yield_now().await;
        }
        assert!(keys.now().unwrap().find(Some("old"), Algorithm::EdDsa).is_none());
        assert_eq!(clock.slept(), [AT_MOST_EACH, REFRESH, REFRESH]);
        keeping.abort();
    }

    #[tokio::test]
    async fn discovery_leads_to_the_keys_and_only_the_operator_leads_inside() {
        let signer = Signer::ed25519("k");
        let check = |issuer: &'static str, at: &'static str, reach: Option<Reach>| {
            let signer = &signer;
            async move {
                let web = Arc::new(Web::default());
                let (_, keys) = keys(&web, KeysAt::Discovery);
                let description = serde_json::json!({ "issuer": issuer, "jwks_uri": at }).to_string();
                web.put("https://login.test/.well-known/openid-configuration", description);
                web.put(at, set(&[signer]));
                assert_eq!(has(&keys, "k").await, reach.is_some(), "{issuer} {at}");
                let asked = web.asked.lock().unwrap().get(1).cloned();
                assert_eq!(asked, reach.map(|reach| (at.to_owned(), reach)));
            }
        };
        check(ISSUER, "https://login.test/keys", Some(Reach::Operators)).await;
        check(ISSUER, "https://LOGIN.test:443/keys", Some(Reach::Operators)).await;
        check(ISSUER, "https://keys.test/", Some(Reach::Foreign)).await;
        check(ISSUER, "http://login.test/keys", Some(Reach::Foreign)).await;
        check(ISSUER, "http://169.254.169.254/", Some(Reach::Foreign)).await;
        check("https://login.test/", "https://login.test/keys", None).await;
        check("https://evil.test", "https://login.test/keys", None).await;
    }

    #[tokio::test]
    async fn what_is_no_set_of_keys_replaces_none() {
        let signer = Signer::ed25519("k");
        let web = Arc::new(Web::default());
        let (clock, keys) = keys(&web, at_url());
        web.put("http://10.0.0.1/keys", set(&[&signer]));
        assert!(has(&keys, "k").await);
        let many = serde_json::json!({ "keys": vec![signer.jwk(); 101] }).to_string();
        for page in ["", "[]", "{}", r#"{"keys":1}"#, r#"{"keys":[],"keys":[]}"#, &many] {
            web.put("http://10.0.0.1/keys", page);
            clock.advance(AT_MOST_EACH);
            assert!(!has(&keys, "other").await && has(&keys, "k").await, "{page:.20}");
        }
        assert_eq!(web.count(), 7);
    }
}
