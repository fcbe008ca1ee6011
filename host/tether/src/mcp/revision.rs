//! The revisions of the protocol.

use rmcp::model::ProtocolVersion;

/// Whether this revision has no sessions.
pub(super) fn is_stateless(revision: &str) -> bool {
    // Dates, so that their order is that of their texts.
    revision >= ProtocolVersion::V_2026_07_28.as_str()
}
