//! Why an attempt has no output.

use std::time::Duration;

use crate::problem::Code;

/// What went wrong, as far as some decision depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The handler: the arguments fit the schema and make no sense all the same.
    InvalidArguments,
    /// The handler understood, and says no.
    Refused,
    /// The handler says that it may go better later.
    Transient,
    /// The handler failed, or broke the contract.
    Failed,
    /// The guest trapped.
    Trapped,
    /// A limit on memory, stack, output or rows was hit.
    Limit,
    /// The attempt ran out of time.
    TimedOut,
    /// A database or a remote system that the call needs does not answer.
    Unreachable,
    /// The disk of a database is full.
    StorageFull,
    /// The operator granted no such destination.
    Denied,
    /// The output is over `max_response_bytes`.
    ResultTooLarge,
    /// The output is no JSON, or not what the output schema promises.
    ResultInvalid,
    /// The host went away in the middle.
    Interrupted,
}

impl Cause {
    /// Every cause, for tables.
    pub const ALL: [Self; 13] = [
        Self::InvalidArguments,
        Self::Refused,
        Self::Transient,
        Self::Failed,
        Self::Trapped,
        Self::Limit,
        Self::TimedOut,
        Self::Unreachable,
        Self::StorageFull,
        Self::Denied,
        Self::ResultTooLarge,
        Self::ResultInvalid,
        Self::Interrupted,
    ];

    /// Whether a read is run again after it. The host alone decides this, and
    /// only for reads.
    pub fn retries_read(self) -> bool {
        matches!(self, Self::Transient | Self::TimedOut | Self::Unreachable)
    }

    /// Whether a write goes back to the person, who may confirm it again.
    pub fn returns_write(self) -> bool {
        match self {
            Self::Transient
            | Self::TimedOut
            | Self::Unreachable
            | Self::StorageFull
            | Self::Trapped
            | Self::Limit
            | Self::Interrupted => true,
            Self::Denied
            | Self::InvalidArguments
            | Self::Refused
            | Self::Failed
            | Self::ResultTooLarge
            | Self::ResultInvalid => false,
        }
    }

    /// How the cause is named to programs.
    pub fn code(self) -> Code {
        match self {
            Self::InvalidArguments => Code::InvalidArguments,
            Self::Refused => Code::Refused,
            Self::Transient | Self::Unreachable => Code::UpstreamUnavailable,
            Self::Failed => Code::HandlerFailed,
            Self::Trapped => Code::HandlerTrapped,
            Self::Limit => Code::LimitExceeded,
            Self::TimedOut => Code::TimedOut,
            Self::StorageFull => Code::StorageFull,
            Self::Denied => Code::DestinationDenied,
            Self::ResultTooLarge => Code::ResultTooLarge,
            Self::ResultInvalid => Code::ResultInvalid,
            Self::Interrupted => Code::ExecutionFailedRetryable,
        }
    }

    /// A stable word for it, for what is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::Refused => "refused",
            Self::Transient => "transient",
            Self::Failed => "failed",
            Self::Trapped => "trapped",
            Self::Limit => "limit",
            Self::TimedOut => "timed-out",
            Self::Unreachable => "unreachable",
            Self::StorageFull => "storage-full",
            Self::Denied => "denied",
            Self::ResultTooLarge => "result-too-large",
            Self::ResultInvalid => "result-invalid",
            Self::Interrupted => "interrupted",
        }
    }

    /// The cause that [`Cause::as_str`] gave this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == word)
    }
}

/// The five statuses of HTTP after which the same request may go better: 408, 429,
/// 502, 503, 504.
pub fn is_transient_status(status: u16) -> bool {
    matches!(status, 408 | 429 | 502 | 503 | 504)
}

/// Why an attempt has no output, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What decisions depend on.
    pub cause: Cause,
    /// The handler's own code, where it gave one.
    pub handler_code: Option<String>,
    /// What the caller may read.
    pub message: String,
    /// Not before so long from now.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure that the host found.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        Self { cause, handler_code: None, message: message.into(), retry_after: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_retried_only_where_repeating_can_help() {
        let retried: Vec<_> = Cause::ALL.into_iter().filter(|cause| cause.retries_read()).collect();
        assert_eq!(retried, [Cause::Transient, Cause::TimedOut, Cause::Unreachable]);
    }

    #[test]
    fn five_statuses_are_transient() {
        let transient: Vec<_> = (100..1000).filter(|status| is_transient_status(*status)).collect();
        assert_eq!(transient, [408, 429, 502, 503, 504]);
    }

    #[test]
    fn every_cause_is_found_by_its_word() {
        for cause in Cause::ALL {
            assert_eq!(Cause::from_word(cause.as_str()), Some(cause));
        }
    }
}
