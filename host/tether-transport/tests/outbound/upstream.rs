//! A server that does to a connection whatever a test says, and remembers what it saw.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to a request that was read.
#[derive(Clone)]
pub(crate) enum Reply {
    /// These bytes; the connection stays.
    Bytes(Vec<u8>),
    /// These bytes; the connection is closed.
    Last(Vec<u8>),
    /// Nothing: the connection is closed.
    Close,
    /// Nothing, for as long as the client waits.
    Stall,
    /// A body without an end.
    Endless,
}

/// A request, as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// When it had arrived.
    pub(crate) at: Instant,
    /// On which connection, counted from 1.
    pub(crate) connection: usize,
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What reached an upstream.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log {
    pub(crate) seen: Vec<Seen>,
    /// Connections that were made.
    pub(crate) connections: usize,
    /// Of those, the ones that the client closed.
    pub(crate) closed: usize,
}

pub(crate) struct Upstream {
    address: SocketAddr,
    log: watch::Receiver<Log>,
}

type Script = Arc<Mutex<dyn FnMut(&Seen) -> Reply + Send>>;

impl Upstream {
    /// Answers each request as `script` says.
    pub(crate) async fn new(script: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        Self::at(("127.0.0.1", 0), script).await
    }

    /// The same, there.
    pub(crate) async fn at(place: (&str, u16), script: impl FnMut(&Seen) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind(place).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (log, received) = watch::channel(Log::default());
        let script: Script = Arc::new(Mutex::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                log.send_modify(|log| log.connections += 1);
                let connection = log.borrow().connections;
                tokio::spawn(serve(stream, connection, log.clone(), script.clone()));
            }
        });
        Self { address, log: received }
    }

    /// Answers every request alike.
    pub(crate) async fn always(reply: Reply) -> Self {
        Self::new(move |_| reply.clone()).await
    }

    /// Answers the requests one after the other; the last reply goes on.
    pub(crate) async fn in_turn(replies: Vec<Reply>) -> Self {
        let mut replies = replies.into_iter().peekable();
        Self::new(move |_| {
            let reply = replies.next().unwrap();
            if replies.peek().is_none() {
                replies = vec![reply.clone()].into_iter().peekable();
            }
            reply
        })
        .await
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What reached it up to now.
    pub(crate) fn log(&self) -> Log {
        self.log.borrow().clone()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log().seen
    }

    /// Waits until `is` says yes of what reached it.
    pub(crate) async fn until(&self, is: impl FnMut(&Log) -> bool) -> Log {
        let mut log = self.log.clone();
        let reached = tokio::time::timeout(Duration::from_secs(10), log.wait_for(is));
        reached.await.expect("it comes about within 10 seconds").unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, connection: usize, log: watch::Sender<Log>, script: Script) {
    let mut read = Vec::new();
    loop {
        let Some(seen) = request(&mut stream, &mut read, connection).await else {
            log.send_modify(|log| log.closed += 1);
            return;
        };
        log.send_modify(|log| log.seen.push(seen.clone()));
        let reply = (script.lock().unwrap())(&seen);
        match reply {
            Reply::Bytes(bytes) => _ = stream.write_all(&bytes).await,
            Reply::Last(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Reply::Close => return,
            Reply::Stall => {
                // Nothing comes but the end.
                let _ = stream.read(&mut [0; 64]).await;
                log.send_modify(|log| log.closed += 1);
                return;
            }
            Reply::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
                while stream.write_all(b"400\r\n").await.is_ok()
                    && stream.write_all(&[b'x'; 1024]).await.is_ok()
                    && stream.write_all(b"\r\n").await.is_ok()
                {}
                log.send_modify(|log| log.closed += 1);
                return;
            }
        }
    }
}

/// The next request, once it is whole; none where the client closed the connection.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>, connection: usize) -> Option<Seen> {
    let head = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break read.drain(..end + 4).collect::<Vec<_>>();
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let (method, path) = (first.next()?, first.next()?);
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while read.len() < length {
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(read.drain(..length).collect()).unwrap();
    Some(Seen { at: Instant::now(), connection, method, path, headers, body })
}

/// An answer of this status, with these lines of headers, and this body.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if status == 204 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    format!("HTTP/1.1 {status} Some\r\n{headers}{length}\r\n{body}").into_bytes()
}

/// The same as a reply that keeps the connection.
pub(crate) fn status(status: u16) -> Reply {
    Reply::Bytes(answer(status, &[], if status == 204 { "" } else { "{}" }))
}

/// A port of this machine at which nobody listens.
pub(crate) async fn deaf_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}
