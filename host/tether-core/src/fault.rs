//! Named points at which a test stops the host.
//!
//! They are compiled in where `debug_assertions` are, that is in tests; in a
//! release build [`reached`] is nothing. What happens at a point is for the
//! installed hook to say: this crate does no I/O.

/// A point in the life of a confirmed write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The confirmation was admitted; the claim is not written yet.
    BeforeClaim,
    /// The claim is durable; the handler has not started.
    Claimed,
    /// The handler asked to commit; nothing is written yet.
    BeforeCommit,
    /// The commit is durable; the handler has not been told yet.
    Committed,
    /// A request of the write is noted; it has not left yet.
    BeforeSend,
    /// The request was answered; the handler has not been told yet.
    Sent,
    /// The attempt has ended and its records were read; its end is not written yet.
    BeforeFinish,
    /// The end is durable; nobody was told yet.
    Finished,
}

impl Point {
    /// Every point, in the order in which a write passes them.
    pub const ALL: [Self; 8] = [
        Self::BeforeClaim,
        Self::Claimed,
        Self::BeforeCommit,
        Self::Committed,
        Self::BeforeSend,
        Self::Sent,
        Self::BeforeFinish,
        Self::Finished,
    ];

    /// The point's name, for the command line of a test.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeClaim => "before-claim",
            Self::Claimed => "claimed",
            Self::BeforeCommit => "before-commit",
            Self::Committed => "committed",
            Self::BeforeSend => "before-send",
            Self::Sent => "sent",
            Self::BeforeFinish => "before-finish",
            Self::Finished => "finished",
        }
    }
}

#[cfg(debug_assertions)]
static HOOK: std::sync::OnceLock<fn(Point)> = std::sync::OnceLock::new();

/// Installs what happens at a point, once for the process.
#[cfg(debug_assertions)]
pub fn install(hook: fn(Point)) {
    // A second hook would be a mistake of the caller's; the first one stays.
    let _ = HOOK.set(hook);
}

/// The host has come to `point`.
#[inline]
pub fn reached(point: Point) {
    #[cfg(debug_assertions)]
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
}
