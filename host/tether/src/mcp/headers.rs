//! What the headers of a request say.

use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::revision;

/// Names the revision of the protocol that a request is of.
pub(super) const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Names the session that a request is of.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Set by `tether mcp`: its client speaks no HTTP, and so repeats nothing in headers.
const STDIO: HeaderName = HeaderName::from_static("tether-stdio");

/// Those of one request.
#[derive(Clone)]
pub(super) struct Headers(pub(super) HeaderMap);

impl Headers {
    /// The revision that the request says that it is of, if it says so.
    ///
    /// # Errors
    ///
    /// With what is wrong where it says so twice.
    pub(super) fn revision(&self) -> Result<Option<&str>, String> {
        self.only(&REVISION)
    }

    /// Whether that has no sessions.
    pub(super) fn is_stateless(&self) -> bool {
        self.revision().ok().flatten().is_some_and(revision::is_stateless)
    }

    /// The session that the request names, if it names one.
    ///
    /// # Errors
    ///
    /// With what is wrong where it names two.
    pub(super) fn session(&self) -> Result<Option<&str>, String> {
        self.only(&SESSION)
    }

    /// Whether the request comes from `tether mcp`.
    pub(super) fn are_of_stdio(&self) -> bool {
        self.0.contains_key(STDIO)
    }

    /// What is wrong with a body that is sent so.
    pub(super) fn unreadable(&self) -> Option<&'static str> {
        let kind = self.0.get(CONTENT_TYPE).map(text).and_then(|kind| kind.split(';').next());
        if !kind.unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            return Some("the body must be JSON: send `Content-Type: application/json`");
        }
        let mut codings = self.0.get_all(CONTENT_ENCODING).iter().map(text);
        codings
            .any(|coding| !coding.trim().eq_ignore_ascii_case("identity"))
            .then_some("the body must be sent as it is, without a `Content-Encoding`")
    }

    /// Those that rmcp reads; no token is among them, and no `Last-Event-ID`: nothing is
    /// resumed.
    pub(super) fn needed(&self) -> HeaderMap {
        let is_needed = |name: &HeaderName| {
            [ACCEPT, CONTENT_TYPE, HOST].contains(name) || name.as_str().starts_with("mcp-")
        };
        let needed = self.0.iter().filter(|(name, _)| is_needed(name));
        let mut needed: HeaderMap = needed.map(|(name, value)| (name.clone(), value.clone())).collect();
        if self.take_anything() {
            needed.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
        needed
    }

    /// Whether an answer of any type is taken: the client says so, or it says nothing.
    fn take_anything(&self) -> bool {
        let mut types = self.0.get_all(ACCEPT).iter().flat_map(|value| text(value).split(','));
        !self.0.contains_key(ACCEPT)
            || types.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "*/*"))
    }

    /// The one header of this name; one that is no text is an empty one.
    fn only(&self, name: &HeaderName) -> Result<Option<&str>, String> {
        let mut values = self.0.get_all(name).iter();
        let value = values.next().map(text);
        match values.next() {
            None => Ok(value),
            Some(_) => Err(format!("there are two `{name}` headers; send one")),
        }
    }
}

fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or_default()
}
