//! Identities on a store of a test's own and a clock that it sets.

mod foreign;
pub(crate) mod given_clock;
mod jwt;
mod known;
mod people;
pub(crate) mod signer;

use std::sync::Arc;

use axum::body::Bytes;
use serde_json::Value;
use tether_store::SqliteActions;

use self::given_clock::GivenClock;
use super::{Fetch, IdentityParts, Proxies};

/// The parts of a host with this token of its own.
pub(crate) fn parts(token: &str, store: &Arc<SqliteActions>, clock: &Arc<GivenClock>) -> IdentityParts {
    IdentityParts {
        host_token: Some(token.to_owned()),
        tokens: store.clone(),
        providers: Vec::new(),
        fetch: fetch(Value::Null),
        proxies: Proxies::default(),
        clock: clock.clone(),
    }
}

/// Whatever is asked for is this.
pub(crate) fn fetch(found: Value) -> Fetch {
    let found = Bytes::from(found.to_string());
    Arc::new(move |_, _| {
        let found = found.clone();
        Box::pin(async move { Ok(found) })
    })
}
