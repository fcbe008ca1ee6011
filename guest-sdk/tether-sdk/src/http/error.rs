//! Why a request has no usable answer.

use std::fmt;

use crate::bindings::tether::tool::transport;
use crate::error::{ToolError, failed, transient};

/// Why a request has no usable answer.
///
/// A tool that can do without matches on it; one that cannot writes `?`, which
/// makes these of it:
///
/// | variant | `ToolError` | code |
/// | --- | --- | --- |
/// | `Denied` | failed | `REQUEST_DENIED` |
/// | `NotSent` | transient | `UPSTREAM_UNAVAILABLE` |
/// | `OutcomeUnknown` | transient | `UPSTREAM_OUTCOME_UNKNOWN` |
/// | `TooLarge` | failed | `UPSTREAM_TOO_LARGE` |
/// | `TransactionOpen` | failed | `TRANSACTION_OPEN` |
/// | `Status` 408, 429, 502, 503, 504 | transient | `UPSTREAM_UNAVAILABLE` |
/// | `Status`, any other | failed | `UPSTREAM_STATUS` |
/// | `Body` | failed | `UPSTREAM_BODY_INVALID` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpError {
    /// The operator granted no such destination or method, or the request is
    /// malformed, over a limit of the host or against a rule of it. Nothing was
    /// sent.
    Denied(String),
    /// The connection could not be made. Nothing was sent.
    NotSent(String),
    /// The request left, and no whole answer came back: it may have acted.
    OutcomeUnknown(String),
    /// The answer is over the host's limit, in bytes.
    TooLarge(u64),
    /// A transaction is open; the host holds none across the network.
    TransactionOpen,
    /// The peer answered with a status that is not 2xx.
    Status {
        /// The status code.
        status: u16,
        /// Milliseconds before which the peer wants no other try.
        retry_after_ms: Option<u32>,
    },
    /// The body of the request or the response is no JSON, or not of the
    /// expected type.
    Body(String),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(why) => write!(f, "the request was not allowed: {why}"),
            Self::NotSent(why) => write!(f, "the request was not sent: {why}"),
            Self::OutcomeUnknown(why) => write!(f, "the request was sent, without an answer: {why}"),
            Self::TooLarge(limit) => write!(f, "the answer is over the limit of {limit} bytes"),
            Self::TransactionOpen => f.write_str("no request is sent while a transaction is open"),
            Self::Status { status, .. } => write!(f, "the peer answered with status {status}"),
            Self::Body(why) => write!(f, "the body is not the expected JSON: {why}"),
        }
    }
}

impl std::error::Error for HttpError {}

impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> Self {
        let message = error.to_string();
        match error {
            HttpError::Denied(_) => failed("REQUEST_DENIED", message),
            HttpError::NotSent(_) => transient("UPSTREAM_UNAVAILABLE", message),
            HttpError::OutcomeUnknown(_) => transient("UPSTREAM_OUTCOME_UNKNOWN", message),
            HttpError::TooLarge(_) => failed("UPSTREAM_TOO_LARGE", message),
            HttpError::TransactionOpen => failed("TRANSACTION_OPEN", message),
            HttpError::Body(_) => failed("UPSTREAM_BODY_INVALID", message),
            HttpError::Status { status, retry_after_ms } => {
                let error = match status {
                    408 | 429 | 502 | 503 | 504 => transient("UPSTREAM_UNAVAILABLE", message),
                    _ => failed("UPSTREAM_STATUS", message),
                };
                match retry_after_ms {
                    Some(milliseconds) => error.retry_after_ms(milliseconds),
                    None => error,
                }
            }
        }
    }
}

impl From<transport::Error> for HttpError {
    fn from(error: transport::Error) -> Self {
        match error {
            transport::Error::Denied(why) => Self::Denied(why),
            transport::Error::NotSent(why) => Self::NotSent(why),
            transport::Error::OutcomeUnknown(why) => Self::OutcomeUnknown(why),
            transport::Error::TooLarge(limit) => Self::TooLarge(limit),
            transport::Error::TransactionOpen => Self::TransactionOpen,
        }
    }
}
