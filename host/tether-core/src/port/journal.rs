//! What a confirmed write sends, noted before it leaves.

use crate::ledger::{Answer, Request};
use crate::port::BoxFuture;

/// A request that was noted, within its attempt.
#[must_use = "how it went is told with it"]
#[derive(Debug)]
pub struct Departure(pub usize);

/// The note could not be written: the request must not leave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotNoted {
    /// The disk is full.
    #[error("the request could not be noted, so it was not sent: the disk that holds the actions is full")]
    StorageFull,
    /// Anything else.
    #[error("the request could not be noted, so it was not sent: {0}")]
    Failed(String),
}

/// The requests of one attempt of a confirmed write.
pub trait Journal: Send + Sync {
    /// Notes durably that `request` may leave from now on. After a crash it is in
    /// doubt.
    fn leaves(&self, request: Request) -> BoxFuture<'_, Result<Departure, NotNoted>>;

    /// Tells how it went. It is written with the end of the attempt.
    fn went(&self, departure: Departure, answer: Answer);
}
