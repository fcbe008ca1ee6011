//! What goes along with a request, through rmcp to the handler and out again.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::Extensions;
use tether_core::id::IdempotencyKey;
use tether_core::identity::Caller;
use tether_core::json::JsonText;
use tokio::sync::watch;

use super::seats::Seat;
use super::splice::Splices;

/// One request and its answer.
pub(super) struct Exchange {
    /// Who asks. Whoever it is, it has the role of an agent here, and no other.
    pub(super) caller: Caller,
    /// Of a call, as they were received; `{}` where they were left out.
    pub(super) arguments: JsonText,
    /// Of a call.
    pub(super) key: Option<IdempotencyKey>,
    /// True once whoever asked has gone away.
    pub(super) gone: watch::Receiver<bool>,
    /// Its place in its session, where it has one.
    pub(super) seat: Seat,
}

impl Exchange {
    /// That of the request that rmcp hands on; none in what did not come over HTTP.
    pub(super) fn of(extensions: &Extensions) -> Option<Arc<Self>> {
        extensions.get::<Parts>()?.extensions.get().cloned()
    }

    /// The texts that its answer is to hold.
    pub(super) fn splices(&self) -> &Splices {
        &self.seat.splices
    }

    /// Until whoever asked has gone away.
    pub(super) async fn is_abandoned(&self) {
        let mut gone = self.gone.clone();
        // Whoever could say so is gone as well.
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

/// Tells the handler when its answer is not wanted any more.
pub(super) struct Departure {
    gone: watch::Sender<bool>,
    arrived: bool,
}

impl Departure {
    /// Somebody waits.
    pub(super) fn new() -> (Self, watch::Receiver<bool>) {
        let (gone, seen) = watch::channel(false);
        (Self { gone, arrived: false }, seen)
    }

    /// The answer is whole.
    pub(super) fn arrived(&mut self) {
        self.arrived = true;
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if !self.arrived {
            self.gone.send_replace(true);
        }
    }
}
