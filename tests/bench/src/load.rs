//! The load generator: HTTP/1.1 on kept connections, each of which sends its next
//! request once the last one is answered.
//!
//! It shares the machine's cores with what it measures, so it does next to nothing:
//! requests are bytes made beforehand, an answer is read until it is whole. It has one
//! thread, and is the same for every side.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::{JoinSet, LocalSet};

/// Headers of one answer that are looked at.
const HEADERS: usize = 32;

/// Longer than anything that is measured takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// One kept connection.
pub(crate) struct Line {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Line {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("nobody listens")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(4096) })
    }

    /// Sends a request and gives the body of its answer, which must be a success.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.received.clear();
        loop {
            let read = self.stream.read_buf(&mut self.received).await?;
            ensure!(read > 0, "the server closed the connection");
            if let Some(head) = Head::parse(&self.received)?
                && self.received.len() >= head.bytes + head.body
            {
                let body = &self.received[head.bytes..];
                ensure!(
                    (200..300).contains(&head.status),
                    "{}: {}",
                    head.status,
                    String::from_utf8_lossy(body)
                );
                return Ok(body);
            }
        }
    }
}

/// What is needed of the head of an answer.
#[derive(Debug, PartialEq)]
struct Head {
    status: u16,
    /// Of the head itself.
    bytes: usize,
    /// Of the body.
    body: usize,
}

impl Head {
    /// None until it is whole.
    fn parse(received: &[u8]) -> anyhow::Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut answer = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(bytes) = answer.parse(received)? else { return Ok(None) };
        let length = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let length = length.context("an answer does not tell its length")?;
        let body = std::str::from_utf8(length.value)?.parse().context("a length is no number")?;
        Ok(Some(Self { status: answer.code.unwrap_or_default(), bytes, body }))
    }
}

/// The bytes of a POST with a JSON body.
pub(crate) fn post(path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Exchanges per second over `connections` during `length`. `talk` makes what one
/// connection says; each time that is called counts as one exchange.
pub(crate) fn rate<T>(
    address: SocketAddr,
    connections: usize,
    length: Duration,
    talk: impl Fn() -> T,
) -> anyhow::Result<f64>
where
    T: AsyncFnMut(&mut Line) -> anyhow::Result<()> + 'static,
{
    let done = Rc::new(Cell::new(0_u32));
    block_on(async {
        let mut lines = Vec::new();
        for _ in 0..connections {
            lines.push(Line::open(address).await?);
        }
        let begin = Instant::now();
        let mut talks = JoinSet::new();
        for mut line in lines {
            let (mut talk, done) = (talk(), Rc::clone(&done));
            talks.spawn_local(async move {
                while begin.elapsed() < length {
                    talk(&mut line).await?;
                    done.set(done.get() + 1);
                }
                anyhow::Ok(())
            });
        }
        while let Some(talked) = talks.join_next().await {
            talked??;
        }
        Ok(f64::from(done.get()) / begin.elapsed().as_secs_f64())
    })
}

/// Does `talk` on one connection.
pub(crate) fn converse<R>(
    address: SocketAddr,
    talk: impl AsyncFnOnce(&mut Line) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    block_on(async { talk(&mut Line::open(address).await?).await })
}

/// Sends `request` on so many connections at once; when the first and the last
/// answer came, from the moment at which all had been connected.
pub(crate) fn at_once(
    address: SocketAddr,
    connections: usize,
    request: &[u8],
) -> anyhow::Result<(Duration, Duration)> {
    let request: Rc<[u8]> = request.into();
    block_on(async {
        let mut lines = Vec::new();
        for _ in 0..connections {
            lines.push(Line::open(address).await?);
        }
        let begin = Instant::now();
        let mut asked = JoinSet::new();
        for mut line in lines {
            let request = Rc::clone(&request);
            asked.spawn_local(async move {
                line.ask(&request).await?;
                anyhow::Ok(begin.elapsed())
            });
        }
        let (mut first, mut last) = (Duration::MAX, Duration::ZERO);
        while let Some(answered) = asked.join_next().await {
            let at = answered??;
            (first, last) = (first.min(at), last.max(at));
        }
        Ok((first, last))
    })
}

fn block_on<R>(what: impl Future<Output = anyhow::Result<R>>) -> anyhow::Result<R> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let what = async { tokio::time::timeout(PATIENCE, what).await.context("it takes far too long")? };
    LocalSet::new().block_on(&runtime, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let answer = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}";
        let head = Head { status: 202, bytes: answer.len() - 2, body: 2 };
        assert_eq!(Head::parse(answer).expect("it is HTTP"), Some(head));
        assert_eq!(Head::parse(&answer[..30]).expect("it may become HTTP"), None);
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err(), "no length");
    }

    #[test]
    fn a_request_tells_its_length() {
        let request = String::from_utf8(post("/x", &[("a", "b")], "{}")).expect("it is text");
        assert!(request.starts_with("POST /x HTTP/1.1\r\n"), "{request}");
        assert!(request.ends_with("\r\na: b\r\ncontent-length: 2\r\n\r\n{}"), "{request}");
    }
}
