//! An action, for a person at a terminal.

use std::fmt::Write as _;

use crate::wire::evidence::{Went, sent};
use crate::wire::seen::{SeenAction, SeenEntry};
use tether_core::plain::{shown, shown_name};

/// Everything that a person needs for a decision.
pub(super) fn whole(action: &SeenAction) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<13} {value}");
    };
    match (&action.preview, &action.preview_error) {
        (Some(preview), _) => line("would do", &shown(preview)),
        (None, Some(error)) => line("would do", &format!("unknown, there is no preview: {}", shown(error))),
        (None, None) => {}
    }
    match &action.args {
        Some(args) => line("arguments", &shown(args.get())),
        None => line("arguments", "erased: their retention is over"),
    }
    line("proposed", &format!("by {} at {}", shown_name(&action.proposed_by), shown(&action.created_at)));
    line("attempts", &format!("{} of {} used", action.attempts_used, action.max_attempts));
    if action.approvals_needed > 1 {
        let so_far: Vec<_> = action.approvals.iter().map(|approval| shown_name(&approval.by)).collect();
        let so_far = if so_far.is_empty() { "nobody yet".to_owned() } else { so_far.join(", ") };
        line("takes", &format!("{} persons for each attempt; so far: {so_far}", action.approvals_needed));
    }
    if let Some(expires_at) = &action.expires_at {
        line("expires", &shown(expires_at));
    }
    if let Some(by) = &action.decided_by {
        line("decided by", &shown_name(by));
    }
    if let Some(reason) = &action.decline_reason {
        line("reason", &shown(reason));
    }
    if let Some(error) = &action.error_message {
        line("error", &format!("{}: {}", shown(action.error_code.as_deref().unwrap_or("-")), shown(error)));
    }
    if let Some(cause) = &action.cause {
        line("cause", &format!("{}: {}", shown(&cause.code), shown(&cause.message)));
    }
    if let Some(effect) = &action.effect {
        line("effect", effect_in_words(effect));
    }
    if let Some(check) = &action.check {
        line("to check", &shown(check));
    }
    for entry in &action.ledger {
        line("ledger", &seen(entry));
    }
    if let Some(result) = &action.result {
        line("result", &shown(result.get()));
    }
    format!(
        "{}  {}  {}\n{}",
        action.action_id,
        shown(&action.command_type),
        shown(&action.status),
        out.trim_end()
    )
}

/// One line of a list.
pub(super) fn line(action: &SeenAction) -> String {
    let args = action.args.as_ref().map_or("(erased)", |args| args.get());
    let about = action.preview.as_deref().unwrap_or(args);
    let about: String = about.chars().take(80).collect();
    let (id, status, tool) = (&action.action_id, shown(&action.status), shown(&action.command_type));
    format!("{id}  {status:<9}  {tool}  {}", shown(&about))
}

fn effect_in_words(effect: &str) -> &str {
    match effect {
        "None" => "None: nothing was committed, and nothing was sent that changes anything",
        "Applied" => "Applied: it was done, or a part of it; see the ledger",
        "Unknown" => "Unknown: something was sent, and nobody here can know what it did",
        other => other,
    }
}

fn seen(entry: &SeenEntry) -> String {
    let what = request(entry).unwrap_or_else(|| entry.kind.clone());
    let mut text = format!("{}  attempt {}  {}", shown(&entry.at), entry.attempt, shown(&what));
    if let Some(database) = &entry.database {
        let _ = write!(text, " in `{}`", shown(database));
    }
    if let Some(step) = &entry.step {
        let _ = write!(text, ", step `{}`", shown(step));
    }
    for statement in &entry.statements {
        let _ = write!(text, "\n  {:<13}   {}", "", shown(statement));
    }
    text
}

/// The sentence about a request; none where the entry is about something else, or is
/// one of a newer gateway.
fn request(entry: &SeenEntry) -> Option<String> {
    let request = [entry.method.as_deref()?, " ", entry.origin.as_deref()?, entry.path.as_deref()?].concat();
    let went = match (entry.answer.as_deref()?, entry.status) {
        ("in_doubt", _) => Went::NoAnswer,
        ("not_sent", _) => Went::Never,
        (_, Some(status)) => Went::Answered(status),
        (_, None) => return None,
    };
    Some(sent(&request, &entry.at, went))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_preview_arguments_and_what_was_done() {
        let action: SeenAction = serde_json::from_str(
            r#"{"status":"Pending","actionId":"9c1e","commandType":"void_ticket","tenant":"t","proposedBy":"agent-7",
                "args":{"ticket_id":9007199254740993},"preview":"Void ticket\u001b[2J 42","attemptsUsed":1,"maxAttempts":3,
                "createdAt":"2026-01-31T12:00:00.000Z","expiresAt":"2026-02-01T12:00:00.000Z","effect":"Applied",
                "ledger":[{"at":"2026-01-31T12:03:07.250Z","attempt":1,"kind":"committed","database":"main",
                           "step":"refund","statements":["UPDATE tickets SET state = 'void'"]}]}"#,
        )
        .unwrap();
        let text = whole(&action);
        for part in [
            "9c1e  void_ticket  Pending",
            "Void ticket\\u{1b}[2J 42",
            r#"{"ticket_id":9007199254740993}"#,
            "1 of 3 used",
            "committed in `main`, step `refund`",
            "UPDATE tickets",
        ] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
    }

    #[test]
    fn a_person_sees_what_was_sent_and_what_to_check() {
        let action: SeenAction = serde_json::from_str(
            r#"{"status":"Pending","actionId":"9c1e","commandType":"refund","tenant":"t","proposedBy":"agent-7",
                "args":{},"attemptsUsed":1,"maxAttempts":3,"createdAt":"2026-01-31T12:00:00.000Z",
                "effect":"Unknown","check":"Ask the bank.",
                "ledger":[{"at":"2026-01-31T12:03:07.250Z","attempt":1,"kind":"sent","method":"POST",
                           "origin":"https://api.example.com","path":"/refunds\u001b[2J","answer":"in_doubt"},
                          {"at":"2026-01-31T12:03:08.250Z","attempt":1,"kind":"sent","method":"POST",
                           "origin":"https://api.example.com","path":"/mails","answer":"answered","status":202}]}"#,
        )
        .unwrap();
        let text = whole(&action);
        for part in [
            "effect        Unknown: something was sent",
            "to check      Ask the bank.",
            "attempt 1  POST https://api.example.com/refunds\\u{1b}[2J left at 12:03:07Z, no answer",
            "POST https://api.example.com/mails left at 12:03:08Z, answered 202",
        ] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
    }
}
