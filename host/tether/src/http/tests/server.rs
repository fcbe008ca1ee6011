//! A server of a test's own, and a client that can send anything.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tether_core::identity::Role;
use tether_core::rule::{Rule, Rules};
use tether_gateway::{Gateway, Settings};
use tether_store::SqliteActions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::document::check_answer;
use super::scripted::Scripted;
use crate::clock::SystemClock;
use crate::config;
use crate::http::{Host, HostParts, Patience, serve};
use crate::identity::tests::given_clock::GivenClock;
use crate::identity::tests::parts as identity_parts;
use crate::identity::tokens::{Made, Wanted};
use crate::identity::{Denied, Identities, IdentityParts, Known, Proxies, operator};
use crate::scratch::Scratch;

pub(super) const TOKEN: &str = "the-token";

pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) handlers: Arc<Scripted>,
    /// That of the identities.
    pub(super) clock: Arc<GivenClock>,
    pub(super) store: Arc<SqliteActions>,
    host: Arc<Host>,
    _folder: Scratch,
}

/// An answer, checked against the document.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) text: String,
    pub(super) json: Value,
}

impl Answer {
    /// A member of the body.
    pub(super) fn at(&self, pointer: &str) -> &Value {
        self.json.pointer(pointer).unwrap_or(&Value::Null)
    }

    #[track_caller]
    pub(super) fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.at("/code").as_str()), (status, Some(code)), "{}", self.text);
        assert!(self.head.contains("content-type: application/problem+json"), "{}", self.head);
    }
}

/// A host on this store, with [`TOKEN`] as its own.
pub(super) async fn host(store: &Arc<SqliteActions>, clock: &Arc<GivenClock>, proxies: Proxies) -> Arc<Host> {
    host_with(store, clock, proxies, Default::default()).await
}

async fn host_with(
    store: &Arc<SqliteActions>,
    clock: &Arc<GivenClock>,
    proxies: Proxies,
    mcp: config::Mcp,
) -> Arc<Host> {
    let parts = IdentityParts { proxies, ..identity_parts(TOKEN, store, clock) };
    Host::new(HostParts {
        identities: Identities::new(parts).await.unwrap(),
        sessions: store.clone(),
        feed: store.clone(),
        clock: clock.clone(),
        inbox: Default::default(),
        mcp,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
    })
}

async fn listen(host: Arc<Host>, patience: Patience) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, host, patience, std::future::pending()));
    address
}

impl Server {
    pub(super) async fn start() -> Self {
        Self::with(Patience::default()).await
    }

    /// One whose clients may take so long.
    pub(super) async fn with(patience: Patience) -> Self {
        Self::made(patience, Proxies::default()).await
    }

    /// One that believes these proxies.
    pub(super) async fn behind(proxies: Proxies) -> Self {
        Self::made(Patience::default(), proxies).await
    }

    /// One where a form in a client counts as a person's decision.
    pub(super) async fn deciding_by_forms() -> Self {
        let default = Rule { form_confirms: true, ..Rule::default() };
        let rules = Rules { default, ..Rules::default() };
        let settings = Settings { rules, ..Settings::default() };
        Self::made_with(Patience::default(), Proxies::default(), settings, Default::default()).await
    }

    /// One whose sessions of MCP last so long without a request.
    pub(super) async fn with_sessions_of(session: Duration) -> Self {
        let mcp = config::Mcp { session, ..Default::default() };
        Self::made_with(Patience::default(), Proxies::default(), Settings::default(), mcp).await
    }

    async fn made(patience: Patience, proxies: Proxies) -> Self {
        Self::made_with(patience, proxies, Settings::default(), Default::default()).await
    }

    async fn made_with(patience: Patience, proxies: Proxies, settings: Settings, mcp: config::Mcp) -> Self {
        let folder = Scratch::new().unwrap();
        let actions = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
        let handlers = Arc::new(Scripted::default());
        let clock = Arc::new(SystemClock::new());
        let gateway = Gateway::new(actions.clone(), handlers.clone(), clock, settings);
        let clock = Arc::default();
        let host = host_with(&actions, &clock, proxies, mcp).await;
        host.ready(gateway);
        let address = listen(host.clone(), patience).await;
        Self { address, handlers, clock, store: actions, host, _folder: folder }
    }

    /// One that is alive and never ready.
    pub(super) async fn starting() -> SocketAddr {
        let folder = Scratch::new().unwrap();
        let actions = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
        listen(host(&actions, &Arc::default(), Proxies::default()).await, Patience::default()).await
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[], body).await
    }

    /// With the token.
    pub(super) async fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.send_as(TOKEN, method, path, headers, body).await
    }

    /// With this token.
    pub(super) async fn send_as(
        &self,
        token: &str,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> Answer {
        let token = format!("Authorization: Bearer {token}");
        let headers: Vec<_> = headers.iter().copied().chain([&*token]).collect();
        send(self.address, method, path, &headers, body.as_bytes()).await
    }

    /// The host is about to stop.
    pub(super) fn close(&self) {
        self.host.close();
    }

    async fn made_token(&self, tenant: &str, user: &str, roles: &[Role]) -> Made {
        let wanted = Wanted {
            tenant: Some(tenant.parse().unwrap()),
            user: user.parse().unwrap(),
            roles: roles.to_vec(),
            life: Duration::from_secs(3600),
        };
        self.host.identities().create_token(&operator(), wanted).await.unwrap()
    }

    /// A fresh token.
    pub(super) async fn token(&self, tenant: &str, user: &str, roles: &[Role]) -> String {
        self.made_token(tenant, user, roles).await.secret
    }

    /// The id of one.
    pub(super) async fn token_id(&self, tenant: &str, user: &str) -> String {
        self.made_token(tenant, user, &[Role::Agent]).await.token.id.to_string()
    }

    /// Guesses, until one more is too many. They end with what is given back.
    pub(super) async fn flooded(&self) -> JoinSet<Result<Known, Denied>> {
        let guess = |number: usize| {
            let host = Arc::clone(&self.host);
            async move {
                let token = format!("tether_{number:064}");
                host.identities().identify(&token, IpAddr::from([127, 0, 0, 1])).await
            }
        };
        for number in 0..5 {
            assert!(matches!(guess(number).await, Err(Denied::Unknown)));
        }
        self.clock.hold();
        let mut guesses = JoinSet::new();
        (0..3_000).for_each(|number| drop(guesses.spawn(guess(number))));
        // The others pause.
        let told = guesses.join_next().await.expect("there are many").unwrap();
        assert!(matches!(told, Err(Denied::Slowed { .. })), "{told:?}");
        guesses
    }

    /// The id of a fresh proposal.
    pub(super) async fn propose(&self) -> String {
        let answer = self.post("/v1/tools/write/calls", r#"{"args":{"n":1}}"#).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.at("/actionId").as_str().unwrap().to_owned()
    }
}

/// One request on a connection of its own.
pub(super) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &[u8],
) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // Who waits for a word before it sends the body gets an answer instead.
    if !headers.contains("Expect:") {
        stream.write_all(body).await.unwrap();
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let json = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let answer = Answer { status, head: head.to_ascii_lowercase(), text: text.to_owned(), json };
    check_answer(method, path, &answer);
    answer
}

/// The head of an answer that may be a page, and may go on for long.
pub(super) async fn send_raw(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}
