//! A client for a gateway: JSON text in, JSON text out, at once or as it comes.

mod exchange;

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Url};

pub use exchange::{Exchange, QUIET};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// So long after the last byte the other side is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Talks to one gateway, with one token.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    token: Option<HeaderValue>,
    timeout: Duration,
}

/// What the gateway answered, whatever its status.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The value of `Content-Type`, where there is one.
    pub content_type: Option<String>,
    /// The whole body.
    pub body: String,
}

impl Answer {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum InvalidClient {
    /// The address is none.
    #[error("{url:?} is no address of a gateway; write it like http://127.0.0.1:8484")]
    Url {
        /// What was given.
        url: String,
    },
    /// The token cannot stand in a header.
    #[error("the token holds characters that no token has")]
    Token,
    /// The system's TLS set-up does not work.
    #[error("the HTTP client cannot be set up")]
    Setup(#[source] reqwest::Error),
}

/// There is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection came about: nothing was sent.
    #[error("no gateway answers at {url}")]
    NotReached {
        /// Where.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The request may have arrived; its answer did not.
    #[error("the connection to {url} was lost before the answer came")]
    Lost {
        /// Where.
        url: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The request may have arrived; the time for an answer is over.
    #[error("{url} did not answer in time")]
    TimedOut {
        /// Where.
        url: String,
    },
}

impl Client {
    /// A client of the gateway at `base`, such as `http://127.0.0.1:8484`, that
    /// waits up to `timeout` for each answer.
    pub fn new(base: &str, token: Option<&str>, timeout: Duration) -> Result<Self, InvalidClient> {
        crate::tls::install_provider();
        let invalid = || InvalidClient::Url { url: base.to_owned() };
        let mut url = Url::parse(base).map_err(|_| invalid())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(invalid());
        }
        // `join` replaces what follows the last slash.
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let token = token.map(bearer).transpose()?;
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(KEEPALIVE)
            .tcp_keepalive_interval(KEEPALIVE)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(InvalidClient::Setup)?;
        Ok(Self { http, base: url, token, timeout })
    }

    /// Asks for `path`, such as `v1/tools`, which may end in a query.
    pub async fn get(&self, path: &str) -> Result<Answer, ClientError> {
        self.send(Method::GET, path, None, &[]).await
    }

    /// Sends `json` to `path`, with these headers besides.
    pub async fn post(
        &self,
        path: &str,
        json: String,
        headers: &[(&'static str, &str)],
    ) -> Result<Answer, ClientError> {
        self.send(Method::POST, path, Some(json), headers).await
    }

    /// Asks for what is at `path` to be taken away.
    pub async fn delete(&self, path: &str) -> Result<Answer, ClientError> {
        self.send(Method::DELETE, path, None, &[]).await
    }

    /// Sends `body`, where there is one, and leaves the answer to come: there is no limit on
    /// how long that may take, but see [`Exchange::next`].
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        headers: &[(&'static str, &str)],
    ) -> Result<Exchange, ClientError> {
        let request = self.request(method, path, body, headers);
        let response = request.send().await.map_err(|error| self.failed(error))?;
        Ok(Exchange::new(response, self.name()))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        json: Option<String>,
        headers: &[(&'static str, &str)],
    ) -> Result<Answer, ClientError> {
        let request = self.request(method, path, json, headers).header(ACCEPT, "application/json");
        let request = request.timeout(self.timeout);
        let response = request.send().await.map_err(|error| self.failed(error))?;
        let status = response.status().as_u16();
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = response.text().await.map_err(|error| self.failed(error))?;
        Ok(Answer { status, content_type, body })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        json: Option<String>,
        headers: &[(&'static str, &str)],
    ) -> RequestBuilder {
        // Joined to an address that has a host, a relative path is one again.
        let url = self.base.join(path).unwrap_or_else(|_| self.base.clone());
        let mut request = self.http.request(method, url);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match json {
            Some(json) => request.header(CONTENT_TYPE, "application/json").body(json),
            None => request,
        }
    }

    fn name(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    fn failed(&self, error: reqwest::Error) -> ClientError {
        ClientError::of(error, self.name())
    }
}

impl ClientError {
    /// What went wrong with the gateway at `url`.
    fn of(error: reqwest::Error, url: String) -> Self {
        // The URL is named once, by us.
        let source = error.without_url();
        if source.is_connect() {
            Self::NotReached { url, source }
        } else if source.is_timeout() {
            Self::TimedOut { url }
        } else {
            Self::Lost { url, source }
        }
    }
}

/// The header's value, marked so that no log prints it.
fn bearer(token: &str) -> Result<HeaderValue, InvalidClient> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| InvalidClient::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn client(base: &str) -> Result<Client, InvalidClient> {
        Client::new(base, Some("secret"), Duration::from_secs(5))
    }

    #[test]
    fn an_address_without_scheme_or_host_is_refused() {
        for base in ["127.0.0.1:8484", "localhost", "ftp://localhost", "http://", ""] {
            assert!(matches!(client(base), Err(InvalidClient::Url { .. })), "{base:?}");
        }
        assert!(client("http://127.0.0.1:8484").is_ok());
    }

    #[test]
    fn a_token_of_two_lines_is_refused() {
        let client = Client::new("http://localhost", Some("a\nb"), Duration::from_secs(1));
        assert!(matches!(client, Err(InvalidClient::Token)));
    }

    #[tokio::test]
    async fn a_refused_connection_is_told_from_a_lost_one() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let lost = tokio::spawn({
            let client = client(&base).unwrap();
            async move { client.post("v1/x", "{}".into(), &[]).await }
        });
        drop(listener.accept().await.unwrap());
        let lost = lost.await.unwrap().unwrap_err();
        assert!(matches!(lost, ClientError::Lost { .. }), "{lost:?}");

        drop(listener);
        let refused = client(&base).unwrap().get("v1/x").await.unwrap_err();
        assert!(matches!(refused, ClientError::NotReached { .. }), "{refused:?}");
    }

    /// A gateway that answers one request so, and hangs up.
    fn answering(answer: &'static str) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
        });
        base
    }

    #[tokio::test]
    async fn an_answer_comes_as_it_is_sent_and_an_end_is_told_from_a_cut() {
        let whole = "HTTP/1.1 200 X\r\nMcp-Session-Id: s\r\nContent-Length: 5\r\n\r\nhello";
        let client = client(&answering(whole)).unwrap();
        let mut exchange = client.exchange(Method::GET, "mcp", None, &[]).await.unwrap();
        assert_eq!((exchange.status(), exchange.header("mcp-session-id")), (200, Some("s")));
        assert_eq!(exchange.next().await.unwrap().unwrap(), "hello");
        assert!(exchange.next().await.unwrap().is_none());

        let cut = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n";
        let client = self::client(&answering(cut)).unwrap();
        let mut exchange = client.exchange(Method::GET, "mcp", None, &[]).await.unwrap();
        assert_eq!(exchange.next().await.unwrap().unwrap(), "he");
        assert!(matches!(exchange.next().await, Err(ClientError::Lost { .. })));
    }
}
