//! A request as it leaves: everything in it, nothing left to decide.

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT_ENCODING, Entry, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use reqwest::{Client, Url};
use tether_core::destination::{Destination, Method};
use tether_core::fault::{self, Point};
use tether_core::id::RequestId;

use super::check::origin;
use super::{Outbound, Response, Secrets, headers};
use crate::heavy::heavy;

/// How we introduce ourselves, where the handler does not.
const AGENT: &str = concat!("tether/", env!("CARGO_PKG_VERSION"));

/// A whole request.
pub(crate) struct Parcel {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether secrets are among the headers: then the answer has to be one in which an
    /// echo of them is found.
    pub(crate) has_secrets: bool,
}

/// How much of an answer's body is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cap {
    /// So many bytes.
    pub(crate) bytes: usize,
    /// Of which longer answer the beginning will do.
    pub(crate) cut: Cut,
}

/// Of which answers the beginning will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Of none.
    Nothing,
    /// Of those that are no success.
    Failures,
    /// Of any: only the status counts.
    Everything,
}

/// What came back in place of a whole answer.
pub(super) enum Lost {
    /// The connection was not made, or it was lost.
    Broken(reqwest::Error),
    /// An answer came that is over the limit.
    TooLarge {
        /// Its status.
        status: u16,
    },
    /// An answer came that is compressed, where secrets could be in it.
    Compressed {
        /// Its status.
        status: u16,
    },
}

/// Why there is no answer where it is compressed.
pub(super) fn compressed(origin: &str) -> String {
    format!(
        "{origin} answered with a compressed body although it was asked for none; requests there carry \
         secrets, and an echo of them could not be masked"
    )
}

/// The host's own headers for a request to `destination`: the key, and what the
/// operator configured. The error is for the operator.
pub(crate) fn host_headers(
    destination: &Destination,
    key: RequestId,
    secrets: &Secrets,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let name = |name: &str| HeaderName::try_from(name).map_err(|_| format!("{name:?} is no header's name"));
    for (header, template) in &destination.headers {
        let value = secrets.fill(template).map_err(|unfilled| format!("the header {header}: {unfilled}"))?;
        headers.insert(name(header)?, value);
    }
    // 32 hex digits are a value of a header.
    let key = HeaderValue::try_from(key.to_string()).map_err(|error| error.to_string())?;
    if let Some(header) = &destination.key_header {
        headers.insert(name(header)?, key.clone());
    }
    headers.insert(headers::KEY, key);
    Ok(headers)
}

impl Parcel {
    /// For the log and for messages: no path, no query.
    pub(crate) fn origin(&self) -> String {
        origin(&self.url)
    }

    /// Sends it through `client`, once, and reads the answer as far as `cap`
    /// lets it. Where it is longer, or the future is dropped, the connection is closed.
    pub(super) async fn exchange(
        self,
        client: Client,
        cap: Cap,
        outbound: &Outbound,
    ) -> Result<Response, Lost> {
        let has_secrets = self.has_secrets;
        let response = exchange(client, self.into_request(), cap, has_secrets).await?;
        let (size, outbound) = (response.body().len(), outbound.clone());
        Ok(heavy(size, move || mask(response, outbound.secrets())).await)
    }

    /// As the client takes it. What is not compressed is as long as it arrives, so that
    /// the limit on bytes is one. A handler that asks for compression gets the answer
    /// as it was sent, and decompresses it in its own memory; but not where secrets go,
    /// which nobody would find in it.
    fn into_request(self) -> reqwest::Request {
        let has_body = !self.body.is_empty() || !self.method.is_safe();
        // What core calls a method is one to the client.
        let method = self.method.as_str().parse().unwrap_or_default();
        let mut request = reqwest::Request::new(method, self.url);
        *request.headers_mut() = self.headers;
        let encodings = request.headers_mut().entry(ACCEPT_ENCODING);
        let identity = HeaderValue::from_static("identity");
        match encodings {
            Entry::Occupied(mut asked) if self.has_secrets => _ = asked.insert(identity),
            encodings => _ = encodings.or_insert(identity),
        }
        request.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        if has_body {
            *request.body_mut() = Some(self.body.into());
        }
        request
    }
}

async fn exchange(
    client: Client,
    request: reqwest::Request,
    cap: Cap,
    has_secrets: bool,
) -> Result<Response, Lost> {
    let broken = |error: reqwest::Error| Lost::Broken(error.without_url());
    let mut response = client.execute(request).await.map_err(broken)?;
    fault::reached(Point::HeadArrived);
    let hides = has_secrets && !headers::is_plain(response.headers());
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if hides && !chunk.is_empty() {
            return Err(Lost::Compressed { status: response.status().as_u16() });
        }
        let room = cap.bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            match cap.cut {
                Cut::Everything => break,
                Cut::Failures if !response.status().is_success() => break,
                _ => return Err(Lost::TooLarge { status: response.status().as_u16() }),
            }
        }
    }
    let mut answer = http::Response::new(body.freeze());
    *answer.status_mut() = response.status();
    *answer.version_mut() = response.version();
    *answer.headers_mut() = std::mem::take(response.headers_mut());
    headers::drop_hop_by_hop(answer.headers_mut());
    Ok(answer)
}

/// The answer without the secrets that it echoes.
fn mask(mut response: Response, secrets: &Secrets) -> Response {
    let length = response.body().len();
    let body = secrets.mask(std::mem::take(response.body_mut()));
    if body.len() != length {
        headers::put_length(response.headers_mut(), body.len());
    }
    *response.body_mut() = body;
    for value in response.headers_mut().values_mut() {
        let masked = secrets.mask(Bytes::copy_from_slice(value.as_bytes()));
        if masked != value.as_bytes()
            && let Ok(masked) = HeaderValue::from_maybe_shared(masked)
        {
            *value = masked;
        }
    }
    response
}
