//! Why a tool has no output, and what the host makes of that.

use std::fmt;

use crate::bindings::tether::tool::types;

/// Why a call has no output.
///
/// Written with [`invalid_arguments`], [`refused`], [`transient`] and
/// [`failed`]; `?` makes one of a [`DatabaseError`](crate::DatabaseError) or
/// an [`HttpError`](crate::HttpError). Whatever the tool did in an open
/// transaction is undone when one is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The arguments fit the schema and make no sense all the same. Final.
    InvalidArguments(String),
    /// The tool understood, and says no. Final.
    Refused(Fault),
    /// It may go better later: a read is retried while the call's retry budget
    /// lasts, a write goes back to the person who may confirm it again.
    Transient(Fault),
    /// Anything else. Final.
    Failed(Fault),
}

/// A failure, told to programs and to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stable and in capitals, such as `TICKET_NOT_OPEN`: callers branch on it.
    pub code: String,
    /// One sentence for people; the caller may read it.
    pub message: String,
    /// Milliseconds before which another try makes no sense.
    pub retry_after_ms: Option<u32>,
}

/// The arguments fit the schema and make no sense all the same: an end before
/// its beginning, say.
pub fn invalid_arguments(message: impl Into<String>) -> ToolError {
    ToolError::InvalidArguments(message.into())
}

/// The tool understood, and says no. `code` is stable and in capitals.
pub fn refused(code: impl Into<String>, message: impl Into<String>) -> ToolError {
    ToolError::Refused(Fault::new(code, message))
}

/// It may go better later. `code` is stable and in capitals.
pub fn transient(code: impl Into<String>, message: impl Into<String>) -> ToolError {
    ToolError::Transient(Fault::new(code, message))
}

/// It went wrong, and will again. `code` is stable and in capitals.
pub fn failed(code: impl Into<String>, message: impl Into<String>) -> ToolError {
    ToolError::Failed(Fault::new(code, message))
}

impl ToolError {
    /// Adds that another try makes no sense for so many milliseconds; the host
    /// never retries sooner. Invalid arguments have no such time, and stay as
    /// they are.
    #[must_use]
    pub fn retry_after_ms(mut self, milliseconds: u32) -> Self {
        match &mut self {
            Self::InvalidArguments(_) => {}
            Self::Refused(fault) | Self::Transient(fault) | Self::Failed(fault) => {
                fault.retry_after_ms = Some(milliseconds);
            }
        }
        self
    }
}

impl Fault {
    fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), retry_after_ms: None }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArguments(message) => write!(f, "invalid arguments: {message}"),
            Self::Refused(fault) | Self::Transient(fault) | Self::Failed(fault) => {
                write!(f, "{}: {}", fault.code, fault.message)
            }
        }
    }
}

impl std::error::Error for ToolError {}

impl From<ToolError> for types::ToolError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::InvalidArguments(message) => Self::InvalidArguments(message),
            ToolError::Refused(fault) => Self::Refused(fault.into()),
            ToolError::Transient(fault) => Self::Transient(fault.into()),
            ToolError::Failed(fault) => Self::Failed(fault.into()),
        }
    }
}

impl From<Fault> for types::Fault {
    fn from(fault: Fault) -> Self {
        Self { code: fault.code, message: fault.message, retry_after_ms: fault.retry_after_ms }
    }
}
