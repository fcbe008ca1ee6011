//! A request of a read: repeated out of the call's allowance.

use std::sync::Arc;
use std::time::Duration;

use tether_core::allowance::Allowance;
use tether_core::failure::{Cause, Failure, is_transient_status};

use super::passage::Passage;
use super::{Response, SendError};
use crate::retry_after;

/// Tries until something comes that is not worth repeating, or the allowance is spent;
/// then what came last is the answer. `failed` is told each wait that a server asked
/// for.
pub(super) async fn repeat<F>(
    allowance: &Allowance,
    origin: &str,
    mut try_once: impl FnMut(Arc<Passage>) -> F,
    mut failed: impl FnMut(Option<Duration>),
) -> Result<Response, SendError>
where
    F: Future<Output = Result<Response, SendError>>,
{
    loop {
        let passage = Arc::<Passage>::default();
        let one_try = try_once(passage.clone());
        let (outcome, failure) = match in_time(allowance, origin, &passage, one_try).await {
            Ok(outcome) => {
                let failure = failure(&outcome, allowance);
                (outcome, failure)
            }
            Err(late) => (Err(late), Some(Failure::new(Cause::TimedOut, ""))),
        };
        let Some(failure) = failure else { return outcome };
        failed(failure.retry_after);
        let Some(pause) = allowance.next(&failure) else { return outcome };
        tracing::debug!(origin, cause = failure.cause.as_str(), ?pause, "a request of a read is repeated");
        allowance.sleep(pause).await;
    }
}

/// One try, in the time that a try has; the error says that it is over, and whether
/// the request may have left through `passage` until then.
pub(crate) async fn in_time<T>(
    allowance: &Allowance,
    origin: &str,
    passage: &Passage,
    one_try: impl Future<Output = T>,
) -> Result<T, SendError> {
    let timeout = allowance.timeout();
    if timeout.is_zero() {
        return Err(SendError::NotSent(format!(
            "the time of the call is over; nothing was sent to {origin}"
        )));
    }
    tokio::select! {
        biased;
        outcome = one_try => return Ok(outcome),
        () = allowance.sleep(timeout) => {}
    }
    // The try is dropped by now, and a connection that was being made for it is given up.
    Err(too_late(origin, passage, timeout))
}

/// The time of a request is over, and it is given up: whether it may have left.
pub(crate) fn too_late(origin: &str, passage: &Passage, timeout: Duration) -> SendError {
    if passage.is_open() {
        return SendError::OutcomeUnknown(format!("{origin} did not answer within {timeout:?}"));
    }
    SendError::NotSent(format!("no connection to {origin} came about within {timeout:?}; nothing was sent"))
}

/// What is worth repeating about an outcome.
fn failure(outcome: &Result<Response, SendError>, allowance: &Allowance) -> Option<Failure> {
    match outcome {
        Ok(response) if is_transient_status(response.status().as_u16()) => {
            let retry_after = retry_after::of(response, allowance.now());
            Some(Failure { retry_after, ..Failure::new(Cause::Transient, "") })
        }
        Err(SendError::NotSent(_) | SendError::OutcomeUnknown(_)) => {
            Some(Failure::new(Cause::Unreachable, ""))
        }
        Ok(_)
        | Err(
            SendError::Denied(_) | SendError::Refused(_) | SendError::StorageFull(_) | SendError::TooLarge(_),
        ) => None,
    }
}
