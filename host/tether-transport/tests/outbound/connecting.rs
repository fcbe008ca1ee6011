//! Time that is over while a connection is being made: nothing was sent.

use std::net::SocketAddr;
use std::time::Duration;

use tether_core::destination::Destination;
use tether_core::ledger::Answer;
use tether_transport::outbound::{Course, SendError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::journal::TestJournal;
use crate::names::Held;
use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer};

const TIMEOUT: Duration = Duration::from_millis(250);

/// A listener at which no connection comes about any more: its queue is full.
struct FullListener {
    _queue: Vec<TcpStream>,
    _listener: TcpListener,
    address: SocketAddr,
}

impl FullListener {
    fn bind() -> TcpListener {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        socket.listen(1).unwrap()
    }

    async fn new(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        // The system queues one or two more than it was told to.
        while let Ok(connected) = tokio::time::timeout(TIMEOUT, TcpStream::connect(address)).await {
            queue.push(connected.unwrap());
            assert!(queue.len() < 64, "the queue has an end");
        }
        Self { _queue: queue, _listener: listener, address }
    }
}

/// What one try of a read comes to.
async fn read(destination: Destination, url: String) -> SendError {
    let outbound = outbound_with(Held::new("127.0.0.1"));
    let sender = outbound.sender(&[destination], key(), Course::Read(allowance(1, TIMEOUT)));
    sender.send(request("GET", url)).await.unwrap_err()
}

#[tokio::test]
async fn a_read_whose_time_is_over_while_it_connects_has_sent_nothing() {
    let full = FullListener::new(FullListener::bind()).await;
    let silent = Upstream::always(Reply::Stall).await;
    for origin in [
        format!("http://{}", full.address),
        // TLS is a part of the connection.
        format!("https://127.0.0.1:{}", silent.port()),
        // And so is the look-up of the name.
        "http://slow.test".to_owned(),
    ] {
        let error = read(grant(&origin), origin.clone()).await;
        assert!(matches!(&error, SendError::NotSent(why) if why.contains("no connection")), "{error:?}");
    }
    assert_eq!(silent.seen().len(), 0);
}

#[tokio::test]
async fn a_write_whose_time_is_over_while_it_connects_has_sent_nothing() {
    let full = FullListener::new(FullListener::bind()).await;
    let origin = format!("http://{}", full.address);
    let journal = TestJournal::new();
    let sender = outbound().sender(&[grant(&origin)], key(), Course::Write(journal.clone()));
    let late = tokio::time::timeout(TIMEOUT, sender.send(request("POST", origin))).await;
    assert!(late.is_err(), "{late:?}");
    assert_eq!(journal.entries()[0].1, Answer::NotSent);
}

#[tokio::test]
async fn a_read_whose_time_is_over_while_it_waits_for_the_answer_may_have_acted() {
    let silent = Upstream::always(Reply::Stall).await;
    let error = read(grant(&silent.origin()), silent.origin()).await;
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
}

#[tokio::test]
async fn a_read_that_leaves_on_anothers_connection_while_its_own_is_made_was_sent() {
    let listener = FullListener::bind();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let outbound = outbound();
    let send = |timeout, path: &str| {
        let sender = outbound.sender(&[grant(&origin)], key(), Course::Read(allowance(1, timeout)));
        tokio::spawn(sender.send(request("GET", format!("{origin}{path}"))))
    };
    let first = send(Duration::from_secs(30), "/first");
    let (mut kept, _) = listener.accept().await.unwrap();
    let mut read = vec![0; 4096];
    assert!(kept.read(&mut read).await.unwrap() > 0);

    // The second one finds that connection in use, and cannot make one of its own.
    let _full = FullListener::new(listener).await;
    let second = send(Duration::from_secs(2), "/second");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    kept.write_all(&answer(200, &[], "{}")).await.unwrap();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
    let length = kept.read(&mut read).await.unwrap();
    assert!(read[..length].starts_with(b"GET /second"), "it was sent");
    let error = second.await.unwrap().unwrap_err();
    assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
}
