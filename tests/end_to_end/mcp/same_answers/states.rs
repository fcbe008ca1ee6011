//! The states that an action can have, and how one gets there.

use serde_json::json;

use crate::support::{Api, Upstream, eventually};

pub(super) struct State {
    pub(super) tool: &'static str,
    pub(super) arguments: String,
    pub(super) then: Then,
    /// What HTTP then says of it.
    pub(super) words: &'static str,
}

/// What people do about an action.
#[derive(Clone, Copy)]
pub(super) enum Then {
    Wait,
    Confirm,
    /// So often.
    ConfirmAgain(usize),
    /// And it takes its time.
    BeginToConfirm,
    Decline,
    LetItExpire,
}

impl Then {
    /// Does it.
    pub(super) fn happen(self, api: &Api, id: &str) {
        let until = |status: &str| {
            eventually(status, || (api.action(id).str("status") == status).then_some(()));
        };
        let confirm = || assert_eq!(api.confirm(id, "{}").status, 200);
        match self {
            Self::Wait => {}
            Self::Confirm => confirm(),
            Self::ConfirmAgain(times) => (0..times).for_each(|_| confirm()),
            Self::BeginToConfirm => {
                let _goes_away_later = api.begin_confirm(id, "{}");
                until("Executing");
            }
            Self::Decline => drop(api.decline(id, r#"{"reason":"not \"this\"\none"}"#)),
            Self::LetItExpire => until("Expired"),
        }
    }
}

/// Every state.
pub(super) fn states(upstream: &Upstream) -> Vec<State> {
    let state =
        |tool, arguments: &str, then, words| State { tool, arguments: arguments.to_owned(), then, words };
    let send = |path| json!({"method": "POST", "url": upstream.url(path)}).to_string();
    let kept = r#"{"n":9007199254740993, "m" : -0,"text":"👩‍🚀"}"#;
    let envelope = r#"{"mcpContent":[{"type":"text","text":"x"}],"structuredContent":{"n" : 1.0}}"#;
    vec![
        state("probe_write", r#"{"note":"x"}"#, Then::Wait, "200 Pending"),
        state("probe_preview", r#"{"text":"x","then":"trap"}"#, Then::Wait, "200 Pending"),
        // One of two persons has said yes.
        state("probe_look_first", "{}", Then::Confirm, "200 Pending"),
        state(
            "probe_write_until",
            r#"{"succeed_on":9}"#,
            Then::Confirm,
            "200 Pending EXECUTION_FAILED_RETRYABLE",
        ),
        state(
            "probe_write_until",
            r#"{"succeed_on":9}"#,
            Then::ConfirmAgain(3),
            "200 Failed EXECUTION_ATTEMPTS_EXHAUSTED",
        ),
        state(
            "probe_steps",
            r#"{"steps":2,"stop_after":1,"by":"refuse"}"#,
            Then::Confirm,
            "200 Failed EXECUTION_FAILED",
        ),
        // Nobody knows what it did.
        state("probe_send_write", &send("/cut"), Then::Confirm, "200 Pending EXECUTION_FAILED_RETRYABLE"),
        state(
            "probe_write",
            r#"{"note":"slow","then":"sleep:60000","when":"before"}"#,
            Then::BeginToConfirm,
            "200 Executing",
        ),
        state("probe_keep", kept, Then::Confirm, "200 Succeeded"),
        state("probe_keep", envelope, Then::Confirm, "200 Succeeded"),
        state("remote_write", r#"{"answer":-0}"#, Then::Confirm, "200 Succeeded"),
        state("remote_write", r#"{"answer":"\"a\nb"}"#, Then::Confirm, "200 Succeeded"),
        state("probe_write", r#"{"note":"no"}"#, Then::Decline, "200 Declined"),
        state("probe_big_write", r#"{"bytes":9}"#, Then::LetItExpire, "200 Expired"),
    ]
}
