//! What `?` makes of the host's errors.

use tether_sdk::prelude::*;

#[track_caller]
fn check(error: impl Into<ToolError>, kind: &str, code: &str) {
    let (is, fault) = match error.into() {
        ToolError::Refused(fault) => ("refused", fault),
        ToolError::Transient(fault) => ("transient", fault),
        ToolError::Failed(fault) => ("failed", fault),
        ToolError::InvalidArguments(message) => panic!("{message}"),
    };
    assert_eq!((is, fault.code.as_str()), (kind, code));
    assert!(!fault.message.is_empty());
}

#[test]
fn of_a_database() {
    let text = || "why".to_owned();
    check(DatabaseError::NotGranted, "failed", "DATABASE_NOT_GRANTED");
    check(DatabaseError::ReadOnly, "failed", "DATABASE_READ_ONLY");
    check(DatabaseError::Constraint(text()), "failed", "DATABASE_CONSTRAINT");
    check(DatabaseError::Busy, "transient", "DATABASE_BUSY");
    check(DatabaseError::TooLarge, "failed", "DATABASE_TOO_LARGE");
    check(DatabaseError::InvalidOutput(text()), "failed", "RESULT_INVALID");
    check(DatabaseError::StorageFull, "transient", "STORAGE_FULL");
    check(DatabaseError::Forbidden(text()), "failed", "DATABASE_FORBIDDEN");
    check(DatabaseError::Mismatch(text()), "failed", "DATABASE_MISMATCH");
    check(DatabaseError::Other(text()), "failed", "DATABASE_FAILED");
}

#[test]
fn of_a_request() {
    let text = || "why".to_owned();
    let status = |status| HttpError::Status { status, retry_after_ms: None };
    check(HttpError::Denied(text()), "failed", "REQUEST_DENIED");
    check(HttpError::NotSent(text()), "transient", "UPSTREAM_UNAVAILABLE");
    check(HttpError::OutcomeUnknown(text()), "transient", "UPSTREAM_OUTCOME_UNKNOWN");
    check(HttpError::TooLarge(1024), "failed", "UPSTREAM_TOO_LARGE");
    check(HttpError::TransactionOpen, "failed", "TRANSACTION_OPEN");
    check(HttpError::Body(text()), "failed", "UPSTREAM_BODY_INVALID");
    for retryable in [408, 429, 502, 503, 504] {
        check(status(retryable), "transient", "UPSTREAM_UNAVAILABLE");
    }
    for last in [302, 400, 404, 409, 500] {
        check(status(last), "failed", "UPSTREAM_STATUS");
    }
}

#[test]
fn a_peer_that_names_a_time_is_quoted() {
    let error = HttpError::Status { status: 503, retry_after_ms: Some(2_000) };
    assert_eq!(
        ToolError::from(error),
        transient("UPSTREAM_UNAVAILABLE", "the peer answered with status 503").retry_after_ms(2_000)
    );
}
