//! Lines on their way to the gateway, and its messages on their way back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Method;
use tether_transport::client::{Client, ClientError, Exchange, QUIET};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::failure::{Failure, INTERNAL, Patience};
use super::line::{Header, Kind, Line};
use super::messages::{self, Messages, answered, whole};
use super::open::Open;
use super::outcome::Outcome;
use super::output::Output;
use super::session::{Handshake, Session, State};
use crate::cli::gateway::fresh_key;

/// Where the gateway speaks the protocol.
const PATH: &str = "mcp";

/// Requests that are under way at the same time; the others wait.
const AT_ONCE: usize = 64;

/// See the module.
pub(super) struct Bridge {
    client: Client,
    pub(super) out: Output,
    /// What the keys of this process begin with.
    stem: String,
    places: Semaphore,
    /// Held while a session is begun, so that it is begun once.
    state: tokio::sync::Mutex<State>,
    /// The gateway answered before.
    was_there: AtomicBool,
    /// When it last did so other than to say that it cannot yet.
    last_there: Mutex<Option<Instant>>,
    pub(super) open: Open,
    pub(super) outcome: Outcome,
}

/// A handshake that succeeded.
pub(super) struct Begun {
    answer: String,
    session: Option<Session>,
}

impl Bridge {
    pub(super) fn new(client: Client, out: Output) -> anyhow::Result<Self> {
        Ok(Self {
            client,
            out,
            stem: format!("stdio:{}", fresh_key()?),
            places: Semaphore::new(AT_ONCE),
            state: tokio::sync::Mutex::default(),
            was_there: AtomicBool::new(false),
            last_there: Mutex::default(),
            open: Open::default(),
            outcome: Outcome::default(),
        })
    }

    /// Sends a request once there is a place for it, and passes on what comes.
    pub(super) async fn answer(&self, line: &Line) {
        // It is never closed.
        let _place = self.places.acquire().await;
        self.carry(line).await;
    }

    /// Sends a line until it is answered, and passes on what comes. Whether it was let in.
    pub(super) async fn carry(&self, line: &Line) -> bool {
        let carried = self.carried(line).await;
        self.report(line, carried).await
    }

    async fn carried(&self, line: &Line) -> Result<(), Failure> {
        let mut patience = self.patience(line);
        loop {
            let session = match line.says.revision {
                Some(_) => None,
                None => self.session().await,
            };
            let before = self.open.count(line.number);
            let mut failure = match self.carry_once(line, session.as_ref()).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            if let (Failure::NoSession, Some(session)) = (&failure, &session)
                && let Err(worse) = self.renew(session).await
            {
                failure = worse;
            }
            // Of several requests some may have been answered.
            let repeatable = line.is_repeatable() && self.open.count(line.number) == before;
            sleep(self.pause(&mut patience, line, failure, repeatable)?).await;
        }
    }

    /// That with a line: it waits for the gateway from when it was read, however many stand
    /// before it, or from when the gateway was last there.
    fn patience(&self, line: &Line) -> Patience {
        let last_there = *self.last_there.lock().unwrap_or_else(PoisonError::into_inner);
        Patience::since(last_there.map_or(line.at, |there| there.max(line.at)))
    }

    /// How long to wait before the line is sent again; with what failed where it is not.
    fn pause(
        &self,
        patience: &mut Patience,
        line: &Line,
        failure: Failure,
        repeatable: bool,
    ) -> Result<Duration, Failure> {
        if failure.is_of_the_way() {
            self.outcome.failed(line.number, failure.to_string());
            if !self.open.note(line.number, Some(failure.to_string())) {
                // It was called off meanwhile.
                self.outcome.called_off(line.number, self.open.last());
            }
        }
        patience.pause(failure, repeatable, self.was_there())
    }

    async fn carry_once(&self, line: &Line, session: Option<&Session>) -> Result<(), Failure> {
        let exchange = self.post(line, session).await?;
        let mut messages = Messages::of(exchange).await?;
        self.open.note(line.number, None);
        self.outcome.let_in(line.number);
        loop {
            match messages.next().await {
                Ok(Some(message)) => {
                    self.out.message(&message).await;
                    if let Some(id) = answered(&message) {
                        self.open.answered(line.number, &id);
                    }
                }
                // Also where nothing is awaited: what is there may be no gateway.
                Err(failure @ Failure::Problem(_)) => return Err(failure),
                // What is left of the stream is of no interest.
                _ if self.open.count(line.number) == 0 => return Ok(()),
                Ok(None) => return Err(Failure::Lost("the answer broke off".to_owned())),
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Shakes hands with the gateway, as the client asked. One that comes to nothing is
    /// answered, and leaves the session that is open as it is.
    pub(super) async fn handshake(&self, line: &Line) -> Option<Begun> {
        let mut patience = self.patience(line);
        let shaken = loop {
            match self.shake_hands(line).await {
                Ok(shaken) => break Ok(shaken),
                Err(failure) => match self.pause(&mut patience, line, failure, true) {
                    Ok(pause) => sleep(pause).await,
                    Err(failure) => break Err(failure),
                },
            }
        };
        match shaken {
            Ok((answer, session)) if messages::revision(&answer).is_some() => Some(Begun { answer, session }),
            Ok((answer, _)) => {
                self.out.message(&answer).await;
                self.report(line, Ok(())).await;
                None
            }
            Err(failure) => {
                self.report(line, Err(failure)).await;
                None
            }
        }
    }

    /// Takes what a handshake began in the place of the session that was open, which ends. The
    /// client sees the answer.
    pub(super) async fn begin(&self, line: Arc<Line>, begun: Begun) {
        let number = line.number;
        let handshake = Some(Handshake { initialize: line, initialized: None });
        let state = State { session: begun.session, handshake };
        let before = std::mem::replace(&mut *self.state.lock().await, state).session;
        self.out.message(&begun.answer).await;
        self.open.end(number);
        self.outcome.answered(number);
        self.end(before).await;
    }

    /// The client said that its handshake is done.
    pub(super) async fn begun(&self, line: Arc<Line>) {
        if let Some(handshake) = &mut self.state.lock().await.handshake {
            handshake.initialized = Some(line);
        }
    }

    /// The session that is open.
    pub(super) async fn session(&self) -> Option<Session> {
        self.state.lock().await.session.clone()
    }

    /// Begins another session in the place of `over`, unless that has been done. The client
    /// notices nothing.
    pub(super) async fn renew(&self, over: &Session) -> Result<(), Failure> {
        let mut state = self.state.lock().await;
        if state.session.as_ref() != Some(over) {
            return Ok(());
        }
        let Some(handshake) = state.handshake.clone() else { return Ok(()) };
        let (_, session) = self.shake_hands(&handshake.initialize).await?;
        if let (Some(session), Some(initialized)) = (&session, &handshake.initialized) {
            whole(&mut self.post(initialized, Some(session)).await?).await?;
        }
        state.session = session;
        Ok(())
    }

    /// The gateway's answer to a handshake, and the session that it began.
    async fn shake_hands(&self, line: &Line) -> Result<(String, Option<Session>), Failure> {
        let exchange = self.post(line, None).await?;
        let id = exchange.header("mcp-session-id").map(str::to_owned);
        let mut messages = Messages::of(exchange).await?;
        while let Some(message) = messages.next().await? {
            if answered(&message).is_some() {
                let session = id.zip(messages::revision(&message));
                return Ok((message, session.map(|(id, revision)| Session { id, revision })));
            }
        }
        Err(Failure::Lost("the answer broke off".to_owned()))
    }

    /// Ends the session, where there is one.
    pub(super) async fn end_session(&self) {
        let open = std::mem::take(&mut *self.state.lock().await).session;
        self.end(open).await;
    }

    /// Ends a session. One that the gateway is not told of ends by itself.
    async fn end(&self, session: Option<Session>) {
        if let Some(session) = session {
            let headers = of_session(&session);
            let _ = timeout(QUIET, self.exchange(Method::DELETE, None, &headers)).await;
        }
    }

    /// The stream in which the gateway tells what nobody asked for.
    pub(super) async fn listened(&self, session: &Session) -> Result<Messages, Failure> {
        let mut headers = of_session(session);
        headers.push(("Accept", "text/event-stream".to_owned()));
        let exchange = timeout(QUIET, self.exchange(Method::GET, None, &headers)).await;
        Messages::of(self.let_in(exchange.map_err(|_| too_slow())??, true).await?).await
    }

    async fn post(&self, line: &Line, session: Option<&Session>) -> Result<Exchange, Failure> {
        let mut headers = match (&line.says.revision, session) {
            (Some(revision), _) => {
                let named = ("MCP-Protocol-Version", revision.clone());
                line.repeated().chain([named]).collect()
            }
            (None, Some(session)) => of_session(session),
            (None, None) => Vec::new(),
        };
        headers.push(("Accept", "application/json, text/event-stream".to_owned()));
        headers.push(("Tether-Stdio", "1".to_owned()));
        headers.extend(line.key(&self.stem));
        let exchange = self.exchange(Method::POST, Some(line.text.clone()), &headers);
        // Without a session the answer to a call begins with its end.
        let exchange = match line.is("tools/call") || line.is("subscriptions/listen") {
            true => exchange.await,
            false => timeout(QUIET, exchange).await.map_err(|_| too_slow())?,
        };
        let is_in_none = session.is_none() && line.says.revision.is_none();
        self.let_in(exchange?, session.is_some()).await.map_err(|failure| match is_in_none {
            true => failure.of_no_session(),
            false => failure,
        })
    }

    async fn exchange(
        &self,
        method: Method,
        body: Option<String>,
        headers: &[Header],
    ) -> Result<Exchange, ClientError> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.client.exchange(method, PATH, body, &headers).await
    }

    /// The answer, where it is no refusal.
    async fn let_in(&self, mut exchange: Exchange, in_session: bool) -> Result<Exchange, Failure> {
        self.was_there.store(true, Ordering::Relaxed);
        if exchange.status() != 503 {
            *self.last_there.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        match exchange.status() {
            200..300 => Ok(exchange),
            404 if in_session => Err(Failure::NoSession),
            status => {
                let after = exchange.header("retry-after").and_then(|seconds| seconds.parse().ok());
                let after = after.map(Duration::from_secs);
                Err(Failure::of(status, &whole(&mut exchange).await?, after))
            }
        }
    }

    /// Tells the client, and whoever runs this, what became of a line, unless it was answered.
    async fn report(&self, line: &Line, carried: Result<(), Failure>) -> bool {
        let open = self.open.end(line.number);
        let Err(failure) = carried else {
            self.outcome.answered(line.number);
            return true;
        };
        let words = failure.to_string();
        for id in open {
            self.out.error(Some(&id), failure.code(), &words).await;
        }
        // A list may hold what is no message; its requests were told.
        if line.says.kind == Kind::Other || (line.says.kind == Kind::List && line.says.ids.is_empty()) {
            self.out.error(None, failure.code(), &words).await;
        }
        if failure.is_of_the_way() {
            self.outcome.tell(words);
        } else {
            self.outcome.answered(line.number);
        }
        false
    }

    /// Nobody waits for this request any more. Whether anybody did.
    pub(super) fn call_off(&self, id: &str) -> bool {
        let Some(number) = self.open.call_off(id) else { return false };
        if self.open.count(number) == 0 {
            self.open.end(number);
            self.outcome.called_off(number, self.open.last());
        }
        true
    }

    /// A line is not going to be sent.
    pub(super) fn unsent(&self, line: &Line) {
        let words = self.outcome.failure().unwrap_or_else(|| {
            "it was not sent, since the gateway did not answer in time what stands before it".to_owned()
        });
        self.open.note(line.number, Some(words.clone()));
        self.outcome.failed(line.number, words);
    }

    /// What was under way came to nothing, and is answered with that. If nobody ever answered,
    /// all of it did.
    pub(super) async fn gave_up(&self) {
        if !self.was_there() {
            self.outcome.failed(u64::MAX, too_slow().to_string());
        }
        for (id, failure) in self.open.end_all() {
            let words = failure.unwrap_or_else(|| too_slow().to_string());
            self.out.error(Some(&id), INTERNAL, &words).await;
        }
    }

    fn was_there(&self) -> bool {
        self.was_there.load(Ordering::Relaxed)
    }
}

fn of_session(session: &Session) -> Vec<Header> {
    vec![("Mcp-Session-Id", session.id.clone()), ("MCP-Protocol-Version", session.revision.clone())]
}

fn too_slow() -> Failure {
    Failure::Lost("the gateway did not answer in time".to_owned())
}
