//! A system that tools reach: it answers as it is told, and counts what it got.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// When it had come whole.
    pub(crate) at: Instant,
}

impl Received {
    /// The value of a header, which must not come twice.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} came twice: {self:?}");
        value
    }

    /// The idempotency key, which every request must carry.
    #[track_caller]
    pub(crate) fn key(&self) -> &str {
        self.header("X-Tether-Idempotency-Key").unwrap_or_else(|| panic!("no key: {self:?}"))
    }
}

/// What is done with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// It is answered with this status, these header lines and this body.
    Answer(u16, &'static str, String),
    /// The connection is closed without an answer.
    Cut,
    /// Nothing, until the other side goes away.
    Silence,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, "", String::new())
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::Answer(200, "", body.to_owned())
    }
}

/// See the module. It listens until the test's process ends.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    gone: AtomicUsize,
}

impl Upstream {
    /// Answers the n-th request that it gets, counted from 1, with `reply(n, it)`.
    pub(crate) fn start(reply: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let (seen, reply) = (Arc::new(Seen::default()), Arc::new(reply));
        let upstream = Self { address, seen: Arc::clone(&seen) };
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, reply) = (Arc::clone(&seen), Arc::clone(&reply));
                seen.open.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    // A client that goes away in the middle is no fault of the test.
                    let _ = serve(connection, &seen, &*reply);
                    seen.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        upstream
    }

    /// Answers each request so.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::start(move |_, _| reply.clone())
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// Everything that came so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.seen.received().clone()
    }

    /// Connections that were made so far.
    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Connections that neither side has closed yet.
    pub(crate) fn open_connections(&self) -> usize {
        self.seen.open.load(Ordering::SeqCst)
    }

    /// Clients that went away while there was silence.
    pub(crate) fn gone(&self) -> usize {
        self.seen.gone.load(Ordering::SeqCst)
    }
}

impl Seen {
    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves one connection until either side closes it.
fn serve(
    mut connection: TcpStream,
    seen: &Seen,
    reply: &dyn Fn(usize, &Received) -> Reply,
) -> io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        let number = {
            let mut received = seen.received();
            received.push(request.clone());
            received.len()
        };
        match reply(number, &request) {
            Reply::Answer(status, headers, body) => {
                let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
                connection.write_all(head.as_bytes())?;
                connection.write_all(body.as_bytes())?;
            }
            Reply::Cut => return Ok(()),
            Reply::Silence => {
                // Ends with the client's end, orderly or not.
                let _ = reader.read(&mut [0]);
                seen.gone.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The next request; none where the client has closed.
fn read(from: &mut impl BufRead) -> io::Result<Option<Received>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let broken = || io::Error::other("no request");
    let mut words = line.split(' ');
    let method = words.next().ok_or_else(broken)?.to_owned();
    let path = words.next().ok_or_else(broken)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some(Received { method, path, headers, body, at: Instant::now() }))
}
