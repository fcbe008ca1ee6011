//! A response, whole.

use serde::de::DeserializeOwned;

use super::HttpError;
use crate::bindings::tether::tool::transport;

/// What a peer answered, whatever its status.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// Every header, in the order of the answer.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The body as it came.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as JSON, whatever its `Content-Type`.
    ///
    /// # Errors
    ///
    /// [`HttpError::Body`] where it is no JSON, or no `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::Body(error.to_string()))
    }

    /// The response, where its status is 2xx.
    ///
    /// # Errors
    ///
    /// [`HttpError::Status`] for any other status.
    pub fn error_for_status(self) -> Result<Self, HttpError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(HttpError::Status { status: self.status, retry_after_ms: self.retry_after_ms() })
    }

    /// `retry-after-ms`, or the seconds of `Retry-After`. Its other form, a
    /// date, is left to the host, which has read it already.
    fn retry_after_ms(&self) -> Option<u32> {
        let number = |name| self.header(name)?.trim().parse::<u32>().ok();
        number("retry-after-ms").or_else(|| number("retry-after")?.checked_mul(1000))
    }
}

impl From<transport::Response> for Response {
    fn from(response: transport::Response) -> Self {
        Self { status: response.status, headers: response.headers, body: response.body }
    }
}
