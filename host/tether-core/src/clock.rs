//! Moments, and the clock that everything asks.

use std::time::Duration;

use crate::port::BoxFuture;

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// From milliseconds since 1970.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment that is `span` later; the last one there is, if it is out of
    /// range.
    pub fn after(self, span: Duration) -> Self {
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

/// Where the time comes from. Tests give a clock of their own.
pub trait Clock: Send + Sync + 'static {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// The time since some fixed moment. It never goes back and never jumps, so
    /// lengths are measured with it.
    fn monotonic(&self) -> Duration;

    /// Waits for `span`.
    fn sleep(&self, span: Duration) -> BoxFuture<'static, ()>;
}
