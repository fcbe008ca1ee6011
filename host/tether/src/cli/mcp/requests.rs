//! The client's lines, one after the other, and those of them that are being answered.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncBufRead;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::LAST;
use super::bridge::Bridge;
use super::failure::INTERNAL;
use super::input::{Input, WrongLine};
use super::line::{Kind, Line};
use super::listen::listen;

/// Requests that are not answered yet, at the most.
const MOST: usize = 1_024;

/// Lines that are read while the one before them is being sent, so that the end of input is seen.
const AHEAD: usize = 64;

/// How long what is under way at the end of input may still take.
const GRACE: Duration = Duration::from_secs(5);

/// JSON-RPC's codes.
const NO_JSON: i64 = -32_700;
const NO_MESSAGE: i64 = -32_600;

/// A line as it was read, and when.
type Read = (Result<String, WrongLine>, Instant);

/// See the module. Dropped, all of them are given up.
pub(super) struct Requests {
    bridge: Arc<Bridge>,
    tasks: JoinSet<()>,
    /// Those that go on until somebody ends them.
    lasting: JoinSet<()>,
    /// What can be called off, by id.
    open: HashMap<String, AbortHandle>,
    /// Lines that were read.
    number: u64,
}

impl Requests {
    pub(super) fn new(bridge: Arc<Bridge>) -> Self {
        Self { bridge, tasks: JoinSet::new(), lasting: JoinSet::new(), open: HashMap::new(), number: 0 }
    }

    /// Takes every line of `input`, and waits a little for what is under way at its end.
    ///
    /// # Errors
    ///
    /// Where the input cannot be read.
    pub(super) async fn serve(&mut self, input: Input<impl AsyncBufRead + Unpin>) -> io::Result<()> {
        let (sender, mut lines) = mpsc::channel(AHEAD);
        let mut taken = Box::pin(self.take_all(&mut lines));
        let read = tokio::select! {
            read = read_ahead(input, sender) => read,
            // It goes on for as long as there may be another line.
            () = &mut taken => return Ok(()),
        };
        if timeout(GRACE, taken).await.is_err() {
            // Whoever reads nothing misses it.
            let _ = timeout(LAST, self.gave_up(lines)).await;
        }
        read
    }

    /// Answers what is under way, and what is still to be sent, with that nothing came of it.
    async fn gave_up(&mut self, mut lines: mpsc::Receiver<Read>) {
        // What is answered with that is answered with nothing else.
        self.tasks.shutdown().await;
        while let Ok(line) = lines.try_recv() {
            if let Some(line) = self.read(line).await {
                self.bridge.unsent(&line);
            }
        }
        self.bridge.gave_up().await;
    }

    /// Takes one line after the other until there are no more, and waits for what is under way.
    async fn take_all(&mut self, lines: &mut mpsc::Receiver<Read>) {
        loop {
            tokio::select! {
                line = lines.recv() => {
                    let Some(line) = line else { break };
                    if let Some(line) = self.read(line).await {
                        self.take(line).await;
                    }
                }
                Some(_) = self.tasks.join_next() => self.open.retain(|_, task| !task.is_finished()),
                Some(_) = self.lasting.join_next() => {}
            }
        }
        self.lasting.abort_all();
        while self.tasks.join_next().await.is_some() {}
    }

    /// Gives up whatever is under way: its streams end.
    pub(super) async fn give_up(mut self) {
        self.tasks.shutdown().await;
        self.lasting.shutdown().await;
    }

    /// What a line is, unless it is none, which is answered. From here on its requests are
    /// open, and those that it calls off are not.
    async fn read(&mut self, (line, at): Read) -> Option<Arc<Line>> {
        self.number += 1;
        let read = match line {
            Ok(text) => Line::read(text, self.number, at)
                .map_err(|error| (NO_JSON, format!("the line is not valid JSON: {error}"))),
            Err(wrong @ WrongLine::TooLong) => Err((NO_MESSAGE, wrong.to_string())),
            Err(wrong @ WrongLine::NotText) => Err((NO_JSON, wrong.to_string())),
        };
        let line = match read {
            Ok(line) => line,
            Err((code, words)) => {
                self.bridge.out.error(None, code, &words).await;
                return None;
            }
        };
        // What was open before is meant, where a request of the same list has its id as well.
        let own: Vec<_> = line.says.cancels.iter().filter(|id| !self.call_off(id)).collect();
        self.bridge.open.take(&line, &own);
        Some(Arc::new(line))
    }

    /// Ends the stream of a request, which calls it off where there is no session. Whether
    /// there was such a request.
    fn call_off(&mut self, id: &str) -> bool {
        if let Some(task) = self.open.remove(id) {
            task.abort();
        }
        self.bridge.call_off(id)
    }

    /// Sends a line. What is not answered is sent before the next line is taken, so that it
    /// arrives before what follows it.
    async fn take(&mut self, line: Arc<Line>) {
        if line.asks_for("initialize") {
            if let Some(begun) = self.bridge.handshake(&line).await {
                self.lasting.abort_all();
                self.bridge.begin(line, begun).await;
            }
        } else if line.tells("notifications/initialized") {
            if self.bridge.carry(&line).await && self.bridge.session().await.is_some() {
                self.bridge.begun(line).await;
                self.lasting.spawn(listen(Arc::clone(&self.bridge)));
            }
        } else if line.says.kind == Kind::Notification && !line.says.cancels.is_empty() {
            // Without a session it is done with the stream.
            if self.bridge.session().await.is_some() {
                self.bridge.carry(&line).await;
            } else {
                self.bridge.open.end(line.number);
            }
        } else if line.says.ids.is_empty() {
            self.bridge.carry(&line).await;
        } else {
            self.answer(line).await;
        }
    }

    async fn answer(&mut self, line: Arc<Line>) {
        if self.tasks.len() + self.lasting.len() >= MOST {
            let words = format!("{MOST} requests wait for their answers; this one was not sent");
            for id in self.bridge.open.end(line.number) {
                self.bridge.out.error(Some(&id), INTERNAL, &words).await;
            }
            self.bridge.outcome.failed(line.number, words);
            return;
        }
        let (bridge, sent) = (Arc::clone(&self.bridge), Arc::clone(&line));
        let task = if line.is("subscriptions/listen") {
            self.lasting.spawn(async move {
                bridge.carry(&sent).await;
            })
        } else {
            self.tasks.spawn(async move { bridge.answer(&sent).await })
        };
        // The requests of a list share a stream, which is not cut for one of them.
        if line.says.kind == Kind::Request {
            self.open.extend(line.says.ids.iter().map(|id| (id.clone(), task.clone())));
        }
    }
}

/// Hands every line of `input` on, and is done at its end.
async fn read_ahead(
    mut input: Input<impl AsyncBufRead + Unpin>,
    lines: mpsc::Sender<Read>,
) -> io::Result<()> {
    while let Some(line) = input.next().await? {
        if lines.send((line, Instant::now())).await.is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tether_transport::client::{Client, QUIET};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::super::output;
    use super::*;

    /// Where something listens that is never ready.
    async fn starting() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                tokio::spawn(async move {
                    // A small request comes in one piece.
                    let _ = connection.read(&mut [0; 4_096]).await;
                    let answer = b"HTTP/1.1 503 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = connection.write_all(answer).await;
                });
            }
        });
        url
    }

    #[tokio::test]
    async fn lines_wait_for_the_gateway_from_when_they_were_read_whatever_stands_before_them() {
        let client = Client::new(&starting().await, None, QUIET).unwrap();
        let (ours, mut theirs) = tokio::io::duplex(4_096);
        let (out, written) = output::start(ours);
        let bridge = Arc::new(Bridge::new(client, out).unwrap());
        let mut requests = Requests::new(Arc::clone(&bridge));
        let (sender, mut lines) = mpsc::channel(AHEAD);
        // Its time is nearly over.
        let at = Instant::now().checked_sub(Duration::from_secs(29)).unwrap();
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/foo"}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
        ] {
            sender.send((Ok(line.to_owned()), at)).await.unwrap();
        }
        drop(sender);
        let taken = timeout(Duration::from_secs(15), requests.take_all(&mut lines));
        taken.await.expect("each had 30 seconds of its own");
        drop((requests, bridge));
        written.await.unwrap();
        let mut answers = String::new();
        theirs.read_to_string(&mut answers).await.unwrap();
        for id in 1..=3 {
            assert!(answers.contains(&format!(r#""id":{id},"error""#)), "{answers}");
        }
    }
}
