//! The keys of a provider: fetched, kept, and given up.
//!
//! A set is replaced as a whole, so that a key which the provider took away opens nothing
//! any more. Where the provider cannot be asked, the set goes on for a while, and then
//! opens nothing.

#[cfg(test)]
mod tests;

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
