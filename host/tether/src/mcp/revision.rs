//! The revisions of the protocol.

use rmcp::model::ProtocolVersion;

/// Those that are spoken, oldest first. To a client that asks for another one as its session
/// begins, the newest with sessions is offered.
pub(super) const SPOKEN: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Whether this revision has no sessions.
pub(super) fn is_stateless(revision: &str) -> bool {
    // Dates, so that their order is that of their texts.
    revision >= ProtocolVersion::V_2026_07_28.as_str()
}
