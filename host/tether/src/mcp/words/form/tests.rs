//! To the letter: on it a person decides.

use tether_core::action::Arguments;
use tether_core::failure::{Cause, Failure};
use tether_core::json::JsonText;
use tether_core::ledger::{Answer, Ledger, Request};
use tether_core::plain::plain;

use super::super::tests::{NOON, in_doubt, of, pending};
use super::*;

#[track_caller]
fn check_form(action: &Action, lines: &[&str]) {
    assert_eq!(form(action).as_deref(), Some(&*lines.join("\n")));
}

fn text(text: &str) -> Preview {
    Preview::Text(text.into())
}

fn tried(preview: Preview) -> Action {
    let failure = Failure::new(Cause::Transient, "the peer\nsaid \"503\"");
    of(pending(1, Some(failure), 0), preview)
}

const DECIDE: &str = "Decide about void_ticket for \"acme\".";
const ARGUMENTS: &str = "Arguments: {\"ticket_id\": 42}";
const USED: &str = "It was tried already: 1 of 3 attempts are used.";
const FAILED: &str = "Attempt 1 failed (UPSTREAM_UNAVAILABLE): \"the peer\\nsaid \\\"503\\\"\"";
const AGAIN: &str = "If you confirm, it is tried again, now: attempt 2 of 3.";

#[test]
fn what_was_never_tried_runs_once() {
    let once = "If you confirm, it runs once, now.";
    let would = "It would: \"Void 42\"";
    check_form(&of(pending(0, None, 0), text("Void 42")), &[DECIDE, would, ARGUMENTS, once]);
    let none = "What it would do, its arguments say.";
    check_form(&of(pending(0, None, 0), Preview::None), &[DECIDE, none, ARGUMENTS, once]);
    let unknown = "What it would do is not known, since its preview failed: \"it trapped\"";
    let preview = Preview::Unavailable("it trapped".into());
    check_form(&of(pending(0, None, 0), preview), &[DECIDE, unknown, ARGUMENTS, once]);
}

#[test]
fn what_may_have_been_done_says_so_and_what_is_to_be_checked() {
    check_form(
        &in_doubt(tried(text("Void 42"))),
        &[
            DECIDE,
            "It would: \"Void 42\"",
            ARGUMENTS,
            USED,
            FAILED,
            "It may have been done already; what it did is not known: \"POST https://a.test/refunds left at \
             00:00:00Z, no answer. Check whether the peer acted; not to be repeated before it must have given up.\"",
            "1970-01-01T00:00:00.000Z, attempt 1: \"POST https://a.test/refunds left at 00:00:00Z, no answer\"",
            &format!(
                "Check first what is said above. {AGAIN} What was done already may then be done a second time."
            ),
        ],
    );
}

#[test]
fn what_is_known_of_an_earlier_attempt_is_told() {
    let none = "What it would do, its arguments say.";
    let nothing = "Nothing was committed, and nothing was sent.";
    check_form(
        &tried(Preview::None),
        &[DECIDE, none, ARGUMENTS, USED, FAILED, "It changed nothing.", nothing, AGAIN],
    );
    let mut action = tried(Preview::None);
    let request = Request {
        method: "GET".parse().unwrap(),
        origin: "https://a.test".into(),
        path: "/\"x".into(),
        step: None,
    };
    let statements = vec!["DELETE\nFROM t".to_owned(), "DELETE FROM u".to_owned()];
    let step = Some("first".parse().unwrap());
    let facts = [
        Fact::Committed { database: "main".parse().unwrap(), step, statements },
        Fact::Sent { request, answer: Answer::Status(503) },
    ];
    let entries = facts.map(|fact| Entry { at: NOON, attempt: 1, fact });
    action.ledger = Ledger::new(entries.to_vec());
    check_form(
        &action,
        &[
            DECIDE,
            none,
            ARGUMENTS,
            USED,
            FAILED,
            "A part of it is done; another attempt goes on after that.",
            "1970-01-01T00:00:00.000Z, attempt 1, step \"first\": committed in main: \"DELETE\\nFROM t\"; \"DELETE FROM u\"",
            "1970-01-01T00:00:00.000Z, attempt 1: \"GET https://a.test/\\\"x left at 00:00:00Z, answered 503\"",
            AGAIN,
        ],
    );
}

#[test]
fn it_shows_everything_or_is_not_shown() {
    let of_preview = |preview: &str| form(&of(pending(0, None, 0), text(preview)));
    let long = format!("{} the last word", "x".repeat(4_000));
    assert!(of_preview(&long).unwrap().contains(&format!("It would: \"{long}\"\n")));
    assert_eq!(of_preview(&"x".repeat(LONGEST)), None);
    // What is escaped is longer than what was given.
    assert_eq!(of_preview(&"\u{202e}".repeat(2_000)), None);

    let mut action = of(pending(0, None, 0), Preview::None);
    let arguments = format!(r#"{{"note":"{}"}}"#, "x".repeat(LONGEST));
    action.proposal.arguments = Arguments::Kept(JsonText::parse(arguments).unwrap());
    assert_eq!(form(&action), None);

    let mut action = in_doubt(tried(Preview::None));
    let entry = action.ledger.entries()[0].clone();
    action.ledger = Ledger::new(vec![entry; 100]);
    assert_eq!(form(&action), None);
}

#[test]
fn nothing_in_a_strangers_text_reads_as_ours() {
    let hostile = "Void\nIf you confirm, nothing runs.\" Arguments: {} \\\" and \u{202e}it";
    let shown = form(&of(pending(0, None, 0), text(hostile))).unwrap();
    let expected =
        "\nIt would: \"Void\\nIf you confirm, nothing runs.\\\" Arguments: {} \\\\\\\" and \\u{202e}it\"\n";
    assert!(shown.contains(expected), "{shown}");
    assert_eq!(shown.lines().count(), 4);
}

#[test]
fn nothing_in_a_strangers_name_or_code_reads_as_ours() {
    let name = "x: nothing was sent.\u{2028}\u{202e}\" It is safe\u{200b}";
    let mut action = tried(Preview::None);
    action.proposal.tenant = name.parse().unwrap();
    let mut failure = Failure::new(Cause::Failed, "no");
    failure.handler_code = Some("E): \"It changed nothing.\u{200b}".into());
    action.state = pending(1, Some(failure), 0);
    let statements = vec!["DELETE FROM t".to_owned()];
    let (database, step) = ("main".parse().unwrap(), Some(name.parse().unwrap()));
    let fact = Fact::Committed { database, step, statements };
    action.ledger = Ledger::new(vec![Entry { at: NOON, attempt: 1, fact }]);
    let shown = form(&action).unwrap();
    let quoted = r#""x: nothing was sent.\u{2028}\u{202e}\" It is safe\u{200b}""#;
    for part in [
        format!("Decide about void_ticket for {quoted}.\n"),
        format!("attempt 1, step {quoted}: committed in main: \"DELETE FROM t\"\n"),
        "\nAttempt 1 failed (HANDLER_FAILED, \"E): \\\"It changed nothing.\\u{200b}\"): \"no\"\n".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
}

#[test]
fn a_preview_that_was_cut_is_no_ground_to_decide_on() {
    let of_preview = |preview: String| form(&of(pending(0, None, 0), Preview::Text(preview)));
    for cut in
        ["x".repeat(1_001), "\u{e0100}".repeat(200), format!("{}{}", "x".repeat(991), "\u{e0100}".repeat(2))]
    {
        assert_eq!(of_preview(plain(&cut, 1_000)), None, "{cut}");
    }
    assert!(of_preview(plain(&"x".repeat(1_000), 1_000)).is_some());
    assert!(of_preview("Void 42 and so on…".to_owned()).is_some());
}
