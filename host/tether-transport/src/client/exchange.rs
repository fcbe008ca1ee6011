//! An answer whose body comes piece by piece.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

use super::ClientError;

/// How long an answer that has begun may be silent. A gateway says every 15 seconds that a
/// stream without news is alive.
pub const QUIET: Duration = Duration::from_secs(45);

/// One request whose answer has begun. Dropped, whoever asked has gone away.
pub struct Exchange {
    response: Response,
    /// Where the gateway is.
    url: String,
}

impl Exchange {
    pub(super) fn new(response: Response, url: String) -> Self {
        Self { response, url }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The value of a header, where there is one and it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the body is a stream of events.
    pub fn is_stream(&self) -> bool {
        let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// The next piece of the body; none at its end.
    ///
    /// # Errors
    ///
    /// Where the connection is lost before the end, or nothing comes for [`QUIET`].
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        match tokio::time::timeout(QUIET, self.response.chunk()).await {
            Ok(piece) => piece.map_err(|error| ClientError::of(error, self.url.clone())),
            Err(_) => Err(ClientError::TimedOut { url: self.url.clone() }),
        }
    }
}
