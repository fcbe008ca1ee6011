//! The client's lines, one after the other, and those of them that are being answered.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncBufRead;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

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
}

impl Requests {
    pub(super) fn new(bridge: Arc<Bridge>) -> Self {
        Self { bridge, tasks: JoinSet::new(), lasting: JoinSet::new(), open: HashMap::new() }
    }

    /// Takes every line of `input`, and waits a little for what is under way at its end.
    ///
    /// # Errors
    ///
    /// Where the input cannot be read.
    pub(super) async fn serve(&mut self, input: Input<impl AsyncBufRead + Unpin>) -> io::Result<()> {
        let bridge = Arc::clone(&self.bridge);
        let (sender, lines) = mpsc::channel(AHEAD);
        let mut taken = Box::pin(self.take_all(lines));
        let read = tokio::select! {
            read = read_ahead(input, sender) => read,
            // It goes on for as long as there may be another line.
            () = &mut taken => return Ok(()),
        };
        if timeout(GRACE, taken).await.is_err() {
            bridge.gave_up();
        }
        read
    }

    /// Takes one line after the other until there are no more, and waits for what is under way.
    async fn take_all(&mut self, mut lines: mpsc::Receiver<Read>) {
        let mut number = 0;
        loop {
            tokio::select! {
                line = lines.recv() => {
                    let Some((line, at)) = line else { break };
                    number += 1;
                    match line {
                        Ok(text) => self.take(text, number, at).await,
                        Err(wrong) => self.refuse(&wrong).await,
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

    async fn refuse(&self, wrong: &WrongLine) {
        let code = match wrong {
            WrongLine::TooLong => NO_MESSAGE,
            WrongLine::NotText => NO_JSON,
        };
        self.bridge.out.error(None, code, &wrong.to_string()).await;
    }

    /// Sends a line. What is not answered is sent before the next line is taken, so that it
    /// arrives before what follows it.
    async fn take(&mut self, text: String, number: u64, at: Instant) {
        let line = match Line::read(text, number, at) {
            Ok(line) => Arc::new(line),
            Err(error) => {
                let words = format!("the line is not valid JSON: {error}");
                return self.bridge.out.error(None, NO_JSON, &words).await;
            }
        };
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
        } else if let Some(id) = &line.says.cancels {
            // Its stream ends, which calls it off where there is no session.
            if let Some(task) = self.open.remove(id) {
                task.abort();
            }
            if self.bridge.session().await.is_some() {
                self.bridge.carry(&line).await;
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
            for id in &line.says.ids {
                self.bridge.out.error(Some(id), INTERNAL, &words).await;
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
