//! What a person reads on a form that counts as a decision: what the page of the inbox says
//! for one, and all of it whole.

use tether_core::action::{Action, Preview};
use tether_core::ledger::{Effect, Entry, Fact};
use tether_core::plain::{shown, shown_name};

use crate::wire::Moment;
use crate::wire::evidence::{Went, check, sent};

/// The longest text of a form, in bytes.
const LONGEST: usize = 8 << 10;

/// A preview that is so long (in characters) and ends with `…` was cut: what did not fit whole is
/// one character, of at most 10 when spelled out.
const CUT: usize = Preview::LONGEST - 10;

/// Everything that a decision needs; nothing where that is more than a form can show.
pub(in crate::mcp) fn form(action: &Action) -> Option<String> {
    let proposal = &action.proposal;
    let arguments = proposal.arguments.kept()?;
    let tenant = name(proposal.tenant.as_str());
    let mut lines = vec![format!("Decide about {} for {tenant}.", proposal.tool)];
    lines.push(match &proposal.preview {
        Preview::Text(text) if is_cut(text) => return None,
        Preview::Text(text) => format!("It would: {}", whole(text)),
        Preview::None => "What it would do, its arguments say.".to_owned(),
        Preview::Unavailable(why) => {
            format!("What it would do is not known, since its preview failed: {}", whole(why))
        }
        Preview::Erased => return None,
    });
    lines.push(format!("Arguments: {}", shown(arguments.as_str())));
    match action.state.attempts_used() {
        0 => lines.push("If you confirm, it runs once, now.".to_owned()),
        used => earlier(action, used, &mut lines),
    }
    let text = lines.join("\n");
    (text.len() <= LONGEST).then_some(text)
}

/// What is known of the attempts that were made, and what another would be.
fn earlier(action: &Action, used: u32, lines: &mut Vec<String>) {
    let most = action.proposal.max_attempts;
    lines.push(format!("It was tried already: {used} of {most} attempts are used."));
    if let Some(failure) = action.state.failure() {
        let code = failure.handler_code.as_ref().map(|code| format!(", {}", whole(code)));
        let (cause, message) = (failure.cause.code(), whole(&failure.message));
        lines.push(format!("Attempt {used} failed ({cause}{}): {message}", code.unwrap_or_default()));
    }
    let effect = action.effect().unwrap_or(Effect::None);
    lines.push(match effect {
        Effect::None => "It changed nothing.".to_owned(),
        Effect::Applied => "A part of it is done; another attempt goes on after that.".to_owned(),
        Effect::Unknown => {
            let check = check(effect, &action.ledger).unwrap_or_default();
            format!("It may have been done already; what it did is not known: {}", whole(&check))
        }
    });
    if action.ledger.entries().is_empty() {
        lines.push("Nothing was committed, and nothing was sent.".to_owned());
    }
    lines.extend(action.ledger.entries().iter().map(seen));
    let again = format!("If you confirm, it is tried again, now: attempt {} of {most}.", used + 1);
    lines.push(match effect {
        Effect::None | Effect::Applied => again,
        Effect::Unknown => format!(
            "Check first what is said above. {again} What was done already may then be done a second time."
        ),
    });
}

/// What the host saw, in a line.
fn seen(entry: &Entry) -> String {
    let (at, attempt) = (Moment::from(entry.at).to_string(), entry.attempt);
    let (what, step) = match &entry.fact {
        Fact::Committed { database, step, statements } => {
            let statements: Vec<_> = statements.iter().map(|statement| whole(statement)).collect();
            (format!("committed in {database}: {}", statements.join("; ")), step)
        }
        Fact::Sent { request, answer } => {
            let url = format!("{} {}{}", request.method, request.origin, request.path);
            (whole(&sent(&url, &at, Went::from(*answer))), &request.step)
        }
    };
    let step = step.as_ref().map(|step| format!(", step {}", name(step.as_str())));
    format!("{at}, attempt {attempt}{}: {what}", step.unwrap_or_default())
}

/// A stranger's text on one line, in quotes that nothing in it can close, and with nothing
/// left out.
fn whole(text: &str) -> String {
    format!("\"{}\"", shown(&closed(text)))
}

/// The same of a name: where two differ, it shows.
pub(super) fn name(name: &str) -> String {
    format!("\"{}\"", shown_name(&closed(name)))
}

/// `text` with what could end quotes around it escaped.
fn closed(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"")
}

/// Whether the end of a preview is not known.
fn is_cut(preview: &str) -> bool {
    preview.ends_with('…') && preview.chars().count() >= CUT
}

#[cfg(test)]
mod tests;
