//! The session of the older revisions. It does not outlive the gateway's process; the client's
//! handshake is kept, and done again for it.

use std::sync::Arc;

use super::line::Line;

/// A session that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: String,
    /// The revision that was agreed upon.
    pub(super) revision: String,
}

/// The client's part of a handshake, to do it again.
#[derive(Clone)]
pub(super) struct Handshake {
    pub(super) initialize: Arc<Line>,
    /// None as long as the client did not say so.
    pub(super) initialized: Option<Arc<Line>>,
}

/// What there is of it.
#[derive(Default)]
pub(super) struct State {
    pub(super) session: Option<Session>,
    pub(super) handshake: Option<Handshake>,
}
