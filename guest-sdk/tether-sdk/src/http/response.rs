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

    /// `retry-after-ms`, or the seconds of `Retry-After`, where the status has one
    /// (429, 503). Its other form, a date, is left to the host, which has read it
    /// already.
    fn retry_after_ms(&self) -> Option<u32> {
        if !matches!(self.status, 429 | 503) {
            return None;
        }
        let digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = |name| self.header(name).map(str::trim).filter(digits)?.parse::<u32>().ok();
        number("retry-after-ms").or_else(|| number("retry-after")?.checked_mul(1000))
    }
}

impl From<transport::Response> for Response {
    fn from(response: transport::Response) -> Self {
        Self { status: response.status, headers: response.headers, body: response.body }
    }
}

#[cfg(test)]
mod tests {
    use super::{HttpError, Response};

    fn answer(status: u16, headers: &[(&str, &str)]) -> Response {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Response { status, headers: headers.collect(), body: b"[1]".to_vec() }
    }

    #[track_caller]
    fn waits(headers: &[(&str, &str)], milliseconds: Option<u32>) {
        let error = answer(503, headers).error_for_status().expect_err("503 is no success");
        assert_eq!(error, HttpError::Status { status: 503, retry_after_ms: milliseconds });
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_milliseconds() {
        waits(&[], None);
        waits(&[("Retry-After", "2")], Some(2_000));
        waits(&[("RETRY-AFTER", "2"), ("retry-after-ms", "150")], Some(150));
        waits(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], None);
        waits(&[("retry-after", "4294968")], None);
        waits(&[("retry-after", "+1")], None);
        let other = answer(502, &[("retry-after", "2")]).error_for_status().map(drop);
        assert_eq!(other, Err(HttpError::Status { status: 502, retry_after_ms: None }));
    }

    #[test]
    fn success_is_2xx_and_json_is_typed() {
        let answer = answer(204, &[]).error_for_status().expect("204 is a success");
        assert_eq!(answer.json(), Ok(vec![1]));
        assert!(matches!(answer.json::<String>(), Err(HttpError::Body(_))));
    }
}
