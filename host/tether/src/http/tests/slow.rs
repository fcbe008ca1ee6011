//! Clients that take too long, and connections that end.

use std::sync::Arc;
use std::time::Duration;

use tether_store::SqliteActions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::server::{Server, TOKEN, host};
use crate::http::{Patience, serve};
use crate::identity::Proxies;
use crate::scratch::Scratch;

const SHORT: Duration = Duration::from_millis(100);

/// Far longer than anything here takes.
const AN_HOUR: Duration = Duration::from_secs(3600);

const LONG: Patience = Patience { head: AN_HOUR, body: AN_HOUR, answer: AN_HOUR };

/// What comes back until the server closes the connection on which `sent` was sent.
async fn until_closed(server: &Server, sent: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let reading = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer));
    reading.await.expect("the connection is closed").unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_head_that_does_not_come_to_its_end_closes_the_connection() {
    let server = Server::with(Patience { head: SHORT, ..LONG }).await;
    for sent in ["", "GET", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        let answer = until_closed(&server, sent).await;
        assert!(!answer.contains("200 OK"), "{sent:?}: {answer}");
    }
}

#[tokio::test]
async fn a_connection_that_asks_no_more_is_closed() {
    let server = Server::with(Patience { head: SHORT, ..LONG }).await;
    let answer = until_closed(&server, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn a_body_that_does_not_come_to_its_end_is_answered_and_closed() {
    let server = Server::with(Patience { body: SHORT, ..LONG }).await;
    let head = format!(
        "POST /v1/tools/echo/calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 9\r\n\r\n"
    );
    let answer = until_closed(&server, &format!("{head}{{\"args")).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("did not arrive within 0.1 s"), "{answer}");
}

#[tokio::test]
async fn a_client_that_takes_no_answer_is_left() {
    let server = Server::with(Patience { answer: SHORT, ..LONG }).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let asking = async {
        // Where nobody reads, neither side can write for long.
        while stream.write_all(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n").await.is_ok() {}
    };
    tokio::time::timeout(Duration::from_secs(20), asking).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_server_that_is_stopped_closes_what_waits_and_takes_nobody_in() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let folder = Scratch::new().unwrap();
    let actions = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
    let host = host(&actions, &Arc::default(), Proxies::default()).await;
    let serving = tokio::spawn(serve(listener, host, LONG, async {
        stopped.await.unwrap_or(());
    }));

    let mut waiting = TcpStream::connect(address).await.unwrap();
    waiting.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 15];
    waiting.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");

    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it ends").unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens there any more");
}
