//! What the host knows of a failure, and the guest could not tell it by.

use std::sync::{Arc, Mutex, PoisonError};

use tether_core::failure::{Cause, Failure};
use tether_core::port::databases::SqlError;
use tether_transport::outbound::SendError;

/// What went wrong last in an import, where the host has a name for it. Clones are
/// the same.
#[derive(Clone, Default)]
pub(crate) struct LastTrouble(Arc<Mutex<Option<Failure>>>);

impl LastTrouble {
    fn set(&self, trouble: Option<Failure>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// A database said no.
    pub(crate) fn in_database(&self, error: &SqlError) {
        let cause = match error {
            SqlError::StorageFull => Some(Cause::StorageFull),
            SqlError::Unreachable(_) => Some(Cause::Unreachable),
            _ => None,
        };
        self.set(cause.map(|cause| Failure::new(cause, error.to_string())));
    }

    /// A request was answered, or not. Only what the operator did not grant is final;
    /// what else the host refuses is a limit of this attempt.
    pub(crate) fn in_send<T>(&self, answer: &Result<T, SendError>) {
        self.set(match answer {
            Err(SendError::Denied(why)) => Some(Failure::new(Cause::Denied, why.clone())),
            Err(SendError::Refused(why)) => Some(Failure::new(Cause::Limit, why.clone())),
            Err(SendError::StorageFull(why)) => Some(Failure::new(Cause::StorageFull, why.clone())),
            _ => None,
        });
    }

    /// The host refused what goes beyond a limit.
    pub(crate) fn at_limit(&self, limit: String) {
        self.set(Some(Failure::new(Cause::Limit, limit)));
    }

    /// `told`, which the guest said, as what it is. A guest that understood and says
    /// no is taken at its word.
    pub(crate) fn explain(&self, told: Failure) -> Failure {
        let trouble = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (trouble, told.cause) {
            (Some(Failure { cause, message, .. }), Cause::Failed | Cause::Transient) => {
                Failure { cause, message, ..told }
            }
            _ => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(happened: impl FnOnce(&LastTrouble), told: Cause, is: Cause) {
        let trouble = LastTrouble::default();
        happened(&trouble);
        let told = Failure { handler_code: Some("ITS_OWN".into()), ..Failure::new(told, "its words") };
        let explained = trouble.explain(told);
        assert_eq!((explained.cause, explained.handler_code.as_deref()), (is, Some("ITS_OWN")));
    }

    fn answered(answer: Result<(), SendError>) -> impl Fn(&LastTrouble) {
        move |trouble| trouble.in_send(&answer)
    }

    #[test]
    fn what_the_host_knows_counts() {
        check(|trouble| trouble.in_database(&SqlError::StorageFull), Cause::Transient, Cause::StorageFull);
        let away = || SqlError::Unreachable("away".into());
        check(|trouble| trouble.in_database(&away()), Cause::Failed, Cause::Unreachable);
        check(answered(Err(SendError::Denied("no".into()))), Cause::Failed, Cause::Denied);
        let refused = || Err(SendError::Refused("too many".into()));
        check(answered(refused()), Cause::Transient, Cause::Limit);
        check(answered(refused()), Cause::Failed, Cause::Limit);
        let full = || Err(SendError::StorageFull("no room".into()));
        check(answered(full()), Cause::Transient, Cause::StorageFull);
        check(answered(full()), Cause::Failed, Cause::StorageFull);
        check(|trouble| trouble.at_limit("too much".into()), Cause::Failed, Cause::Limit);
    }

    #[test]
    fn a_guest_that_understood_is_taken_at_its_word() {
        check(|trouble| trouble.in_database(&SqlError::StorageFull), Cause::Refused, Cause::Refused);
        let denied = || Err(SendError::Denied("no".into()));
        check(answered(denied()), Cause::InvalidArguments, Cause::InvalidArguments);
        check(answered(Err(SendError::NotSent("no".into()))), Cause::Transient, Cause::Transient);
    }

    #[test]
    fn only_the_last_trouble_counts() {
        check(
            |trouble| {
                trouble.in_database(&SqlError::StorageFull);
                trouble.in_database(&SqlError::Busy);
            },
            Cause::Failed,
            Cause::Failed,
        );
        check(
            |trouble| {
                trouble.in_send::<()>(&Err(SendError::Denied("no".into())));
                trouble.in_send(&Ok(()));
            },
            Cause::Transient,
            Cause::Transient,
        );
    }
}
