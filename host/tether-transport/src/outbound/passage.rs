//! Knows whether a request of a write can have left.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tether_core::fault::{self, Point};
use tower_layer::Layer;
use tower_service::Service;

/// The way from the host to a peer, for one request. Until it is open, no byte of the
/// request can have left.
#[derive(Default)]
pub(crate) struct Passage(AtomicBool);

impl Passage {
    /// Whether the connection is made, TLS included: from then on the request may have
    /// left.
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn open(&self) {
        self.0.store(true, Ordering::Release);
        fault::reached(Point::Connected);
    }
}

/// Puts a passage around a client's connector.
#[derive(Clone)]
pub(super) struct Watch(pub(super) Arc<Passage>);

impl<S> Layer<S> for Watch {
    type Service = Watched<S>;

    fn layer(&self, connector: S) -> Watched<S> {
        Watched { connector, passage: self.0.clone() }
    }
}

/// A connector that tells its passage when a connection is there.
#[derive(Clone)]
pub(super) struct Watched<S> {
    connector: S,
    passage: Arc<Passage>,
}

type Later<T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send>>;

impl<S, To> Service<To> for Watched<S>
where
    S: Service<To, Error = Box<dyn Error + Send + Sync>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Later<S::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, to: To) -> Self::Future {
        let connecting = self.connector.call(to);
        let passage = self.passage.clone();
        Box::pin(async move {
            let connection = connecting.await?;
            passage.open();
            Ok(connection)
        })
    }
}
