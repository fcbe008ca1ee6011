//! Connections: taken, given so much time and no more, and brought to an end.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::admit::Peer;
use super::stream::Impatient;
use super::{Host, router};

/// How long clients may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a request's head to arrive, and for the next request to begin.
    pub head: Duration,
    /// For a request's body to arrive.
    pub body: Duration,
    /// To take a further piece of an answer.
    pub answer: Duration,
}

impl Default for Patience {
    /// 30 seconds each.
    fn default() -> Self {
        let time = Duration::from_secs(30);
        Self { head: time, body: time, answer: time }
    }
}

/// Connections at the same time; whoever comes then waits until one has ended.
const MOST_CONNECTIONS: usize = 4_096;

/// The pause after a connection could not be taken, for lack of handles say.
const BREATHER: Duration = Duration::from_millis(200);

/// Serves `host` to whoever connects, until `stop` is ready; then takes nobody in
/// any more, and returns when everybody who is in has got an answer. Dropping the
/// future closes every connection.
pub async fn serve(
    listener: TcpListener,
    host: Arc<Host>,
    patience: Patience,
    stop: impl Future<Output = ()>,
) {
    let router = router(Arc::clone(&host), patience.body);
    let (closing, closed) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    let mut failing = false;
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => match accepted {
                Ok((stream, peer)) => {
                    failing = false;
                    let peer = Peer(peer.ip());
                    connections.spawn(connection(stream, peer, router.clone(), patience, closed.clone()));
                }
                // The client is gone already.
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    // What lasts is told once.
                    if !failing {
                        tracing::error!(%error, "connections cannot be taken; it is tried again");
                    }
                    failing = true;
                    tokio::time::sleep(BREATHER).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    host.close();
    drop(closing);
    while connections.join_next().await.is_some() {}
}

/// One connection to its end. What goes wrong with it is the client's affair.
async fn connection(
    stream: TcpStream,
    peer: Peer,
    router: Router,
    patience: Patience,
    mut closing: watch::Receiver<()>,
) {
    let stream = Impatient::new(stream, patience.answer);
    let service = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        name_by_target(&mut request);
        service.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience.head);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = &mut connection => return,
        // The sender is dropped when it is time.
        _ = closing.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// A target that names a host says for whom the request is, whatever `Host` does (RFC 9112,
/// 3.2.2): behind this, that header is the one place where it is said.
fn name_by_target(request: &mut Request<Incoming>) {
    let name = request.uri().authority().map(|name| HeaderValue::from_str(name.as_str()));
    if let Some(Ok(name)) = name {
        request.headers_mut().insert(HOST, name);
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
