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

/// What a session speaks whose client asked for `asked`: the same as rmcp finds.
pub(super) fn of_session(asked: &str) -> &'static str {
    let mut with_sessions =
        SPOKEN.iter().map(ProtocolVersion::as_str).filter(|revision| !is_stateless(revision));
    let newest = with_sessions.clone().next_back().unwrap_or_default();
    with_sessions.find(|revision| *revision == asked).unwrap_or(newest)
}

/// Whether this revision has no sessions.
pub(super) fn is_stateless(revision: &str) -> bool {
    // Dates, so that their order is that of their texts.
    revision >= ProtocolVersion::V_2026_07_28.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_speaks_what_was_asked_for_or_the_newest() {
        for (asked, spoken) in [
            ("2025-03-26", "2025-03-26"),
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            assert_eq!(of_session(asked), spoken, "{asked}");
        }
    }
}
