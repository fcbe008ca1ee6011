//! A request, before it is sent.

use serde::Serialize;

use super::HttpError;
use crate::bindings::tether::tool::transport;

/// A request for [`Read::send`](crate::Read::send).
///
/// The host adds `X-Tether-Idempotency-Key`, and whatever secret the operator
/// configured for the destination. `X-Tether-*`, `Host`, hop-by-hop and
/// configured headers are the host's: a request that sets one is denied.
///
/// ```
/// # use tether_sdk::{HttpError, Request};
/// # fn refund(cents: i64) -> Result<Request, HttpError> {
/// Ok(Request::post("https://pay.example/refunds")
///     .header("Accept", "application/json")
///     .json(&cents)?
///     .step("refund"))
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    step: Option<String>,
}

impl Request {
    /// A request of any method, without headers or body.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), headers: Vec::new(), body: Vec::new(), step: None }
    }

    /// A `GET`: safe, so a read may send it.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A `POST`: for writes, and for reads only where the operator allows it.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// A `PUT`: for writes.
    pub fn put(url: impl Into<String>) -> Self {
        Self::new("PUT", url)
    }

    /// A `PATCH`: for writes.
    pub fn patch(url: impl Into<String>) -> Self {
        Self::new("PATCH", url)
    }

    /// A `DELETE`: for writes.
    pub fn delete(url: impl Into<String>) -> Self {
        Self::new("DELETE", url)
    }

    /// Adds a header. The same name twice makes two headers.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body as it is.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the body to JSON, and adds `Content-Type: application/json`.
    ///
    /// # Errors
    ///
    /// [`HttpError::Body`] where the value has no JSON form.
    pub fn json(self, value: &impl Serialize) -> Result<Self, HttpError> {
        let body = serde_json::to_vec(value).map_err(|error| HttpError::Body(error.to_string()))?;
        Ok(self.header("Content-Type", "application/json").body(body))
    }

    /// Names this request within a write that sends several unsafe ones: each
    /// step has a key of its own, the same in every attempt. A second unsafe
    /// request with the same step is denied.
    #[must_use]
    pub fn step(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }
}

impl From<Request> for transport::Request {
    fn from(request: Request) -> Self {
        Self {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
            step: request.step,
        }
    }
}
