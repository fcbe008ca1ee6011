//! What goes wrong for a caller, in stable codes.

use std::fmt;
use std::time::Duration;

use crate::id::RequestId;
use crate::schema::Violation;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The stable `errorCode` and `code` values. Their meanings and remedies are
        /// documented in `docs/errors.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code, for tables and documents.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The attempt failed in passing; the action can be confirmed again.
    ExecutionFailedRetryable = "EXECUTION_FAILED_RETRYABLE",
    /// The attempt failed for good.
    ExecutionFailed = "EXECUTION_FAILED",
    /// The last attempt that the action had failed.
    ExecutionAttemptsExhausted = "EXECUTION_ATTEMPTS_EXHAUSTED",
    /// Another confirmation is executing it.
    ActionExecuting = "ACTION_EXECUTING",
    /// It has had more attempts than the person saw.
    ActionChanged = "ACTION_CHANGED",
    /// It was decided by another confirmation.
    ActionDecided = "ACTION_DECIDED",
    /// A person declined it.
    ActionDeclined = "ACTION_DECLINED",
    /// Nobody decided in time.
    ActionExpired = "ACTION_EXPIRED",
    /// What it was bound to is gone or changed.
    ActionOutdated = "ACTION_OUTDATED",
    /// There is no such action for this caller.
    ActionNotFound = "ACTION_NOT_FOUND",
    /// The key was used for something else.
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED",
    /// The result is no longer kept.
    KeyExpired = "KEY_EXPIRED",
    /// The request or its arguments do not fit.
    InvalidArguments = "INVALID_ARGUMENTS",
    /// There is no such tool.
    ToolNotFound = "TOOL_NOT_FOUND",
    /// The tool says no.
    Refused = "REFUSED",
    /// The handler failed.
    HandlerFailed = "HANDLER_FAILED",
    /// The handler trapped.
    HandlerTrapped = "HANDLER_TRAPPED",
    /// The handler hit a limit.
    LimitExceeded = "LIMIT_EXCEEDED",
    /// The call ran out of time.
    TimedOut = "TIMED_OUT",
    /// What the handler depends on does not answer.
    UpstreamUnavailable = "UPSTREAM_UNAVAILABLE",
    /// The operator granted no such destination.
    DestinationDenied = "DESTINATION_DENIED",
    /// The result is over the limit.
    ResultTooLarge = "RESULT_TOO_LARGE",
    /// The result is no JSON, or not what the schema promises.
    ResultInvalid = "RESULT_INVALID",
    /// The host has no room now; nothing was attempted.
    Overloaded = "OVERLOADED",
    /// The disk is full; nothing was attempted.
    StorageFull = "STORAGE_FULL",
    /// No valid token.
    Unauthenticated = "UNAUTHENTICATED",
    /// The token's roles do not allow it.
    Forbidden = "FORBIDDEN",
    /// The host's own storage failed; the log has the cause.
    Internal = "INTERNAL",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error that a caller is told, and that is not an action's outcome.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Problem {
    /// For programs.
    pub code: Code,
    /// For people: what is wrong and what to do.
    pub detail: String,
    /// Whether the request itself is malformed, rather than what it asks for.
    pub malformed: bool,
    /// The call, where there was one.
    pub request_id: Option<RequestId>,
    /// Attempts that were made.
    pub attempts: Option<u32>,
    /// Not before so long from now.
    pub retry_after: Option<Duration>,
    /// The handler's own code, where it gave one.
    pub handler_code: Option<String>,
    /// What does not fit the schema.
    pub errors: Vec<Violation>,
}

impl Problem {
    /// A problem with nothing but a code and a detail.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            malformed: false,
            request_id: None,
            attempts: None,
            retry_after: None,
            handler_code: None,
            errors: Vec::new(),
        }
    }

    /// The request cannot be read: `INVALID_ARGUMENTS`, malformed.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self { malformed: true, ..Self::new(Code::InvalidArguments, detail) }
    }
}
