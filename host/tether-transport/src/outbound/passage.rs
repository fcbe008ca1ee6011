//! Knows whether a request can have left.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tether_core::fault::{self, Point};
use tower_layer::Layer;
use tower_service::Service;

/// The way from the host to a peer, for one request.
#[derive(Default)]
pub(crate) struct Passage(AtomicBool);

tokio::task_local! {
    /// Of the request that is being sent: what connects for it tells it so.
    static OURS: Arc<Passage>;
}

impl Passage {
    /// Whether the request may have left. Where this says no, no byte of it has.
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self, open: bool) {
        self.0.store(open, Ordering::Release);
    }

    /// Does `send` on a connection of its own: until that is made, TLS included, the
    /// request cannot have left.
    pub(super) async fn on_a_fresh_connection<T>(self: Arc<Self>, send: impl Future<Output = T>) -> T {
        OURS.scope(self, send).await
    }

    /// Does `send` on a connection that may be there already: the request can leave at
    /// once, unless one has to be made for it, which fails or is given up.
    ///
    /// While one is made, another may become free and be used in its place. Then the
    /// client goes on making the first in the background, and does not give it up
    /// together with the request.
    pub(super) async fn on_any_connection<T>(self: Arc<Self>, send: impl Future<Output = T>) -> T {
        self.set(true);
        OURS.scope(self, send).await
    }
}

/// Puts a watch on a client's connector, for the passages of its requests.
#[derive(Clone)]
pub(super) struct Watch;

impl<S> Layer<S> for Watch {
    type Service = Watched<S>;

    fn layer(&self, connector: S) -> Watched<S> {
        Watched(connector)
    }
}

/// A connector that tells the passage of a request what becomes of the connection.
#[derive(Clone)]
pub(super) struct Watched<S>(S);

/// A connection that is being made. Dropped, it was given up, or failed.
struct Connecting(Option<Arc<Passage>>);

impl Connecting {
    fn made(mut self) {
        if let Some(passage) = self.0.take() {
            passage.set(true);
            fault::reached(Point::Connected);
        }
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        if let Some(passage) = &self.0 {
            passage.set(false);
        }
    }
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
        self.0.poll_ready(context)
    }

    fn call(&mut self, to: To) -> Self::Future {
        let connecting = self.0.call(to);
        let ours = Connecting(OURS.try_with(Arc::clone).ok());
        Box::pin(async move {
            let connection = connecting.await?;
            ours.made();
            Ok(connection)
        })
    }
}
