//! Every sentence that a model reads: the only manual that it has. Whatever a stranger wrote
//! is quoted, on one line, so that nothing in it reads as a sentence of ours.

use std::time::Duration;

use serde_json::Value;
use tether_core::action::{Action, Output, Preview, State};
use tether_core::ledger::Effect;
use tether_core::plain::plain;
use tether_core::problem::{Code, Problem};
use tether_gateway::failure_of;

use crate::wire::{self, Moment};

mod form;

pub(super) use form::form;

pub(super) const INSTRUCTIONS: &str = "Some tools of this server change things. Calling one of them changes nothing yet: \
it proposes the change, a person decides about it outside of this conversation, and only then does it run, once. \
After you have proposed, tell the user what you proposed and where it can be decided, and go on. \
Do not call the tool again to hurry it: each new call asks a person for one more change. \
`tether_actions` tells what became of a proposal.";

pub(super) const WRITE_NOTE: &str = " (Calling this proposes the change; a person decides before it runs.)";

pub(super) const ACTIONS_TITLE: &str = "What became of proposals";

pub(super) const ACTIONS_DESCRIPTION: &str = "Tells where your own proposals stand, newest first, and what those gave that \
were confirmed. With `actionId`, that one.";

/// Characters of a stranger's text.
const LONGEST: usize = 1_000;

/// Characters of arguments where there is no preview.
const LONGEST_ARGUMENTS: usize = 300;

/// A call comes back with a `requestState` that it did not give, or that the host has forgotten.
pub(super) const OTHER_STATE: &str = "`requestState` is none that this call gave since the host was \
started. If you proposed this before, see with tether_actions where it stands, and do not call again.";

/// One line that says whose words it holds by its quotes.
fn quoted(text: &str, most: usize) -> String {
    format!("\"{}\"", plain(text, most).replace('"', "'"))
}

/// Where an action stands, and what is to be done about it. `page` is where a person decides.
pub(super) fn action(action: &Action, page: &str) -> String {
    match &action.state {
        State::Pending { attempts_used: 0, expires_at, .. } => pending(action, page, (*expires_at).into()),
        State::Pending { expires_at, .. } => tried(action, page, (*expires_at).into()),
        State::Executing { .. } => {
            "It was confirmed and is running now. Ask again in some seconds.".to_owned()
        }
        State::Succeeded { output: Output::Kept(output), .. } => format!(
            "Done. Action {} of {} ran once, and gave: {}",
            action.id,
            action.proposal.tool,
            output_of(output.as_str())
        ),
        State::Succeeded { output: Output::Erased, .. } => "Done; its result is no longer kept.".to_owned(),
        State::Failed { .. } => {
            let (code, message) = failure(action);
            format!("It failed for good ({code}): {message} {}", effect(action))
        }
        State::Declined { reason, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {}", quoted(reason, LONGEST)));
            format!(
                "A person said no{}. Do not propose the same again unless the user asks for it.{}",
                reason.unwrap_or_default(),
                unless_none(action)
            )
        }
        State::Expired { .. } => match action.effect() {
            None | Some(Effect::None) => {
                "Nobody decided in time; nothing was done. Propose it again only if the user still wants it."
                    .to_owned()
            }
            Some(_) => format!("Nobody decided in time.{}", unless_none(action)),
        },
    }
}

/// It is done, and what it gave follows as blocks of its own.
pub(super) fn done_with_blocks(action: &Action) -> String {
    format!("Done. Action {} of {} ran once, and gave what follows.", action.id, action.proposal.tool)
}

fn pending(action: &Action, page: &str, until: Moment) -> String {
    let (id, tool) = (action.id, &action.proposal.tool);
    let would = would(action);
    let (said, needed) = (action.state.approvals().len(), action.proposal.people);
    let approved =
        if said > 0 { format!(" {said} of {needed} persons have said yes.") } else { String::new() };
    format!(
        "Nothing is done yet. A person has been asked to decide about {tool}, action {id}.{approved}\n\
         It would: {would}\n\
         Do not call {tool} again for this; that would ask for a second change. \
         Tell the user that it waits, until {until}, at {page}.\n\
         Ask for its state with tether_actions {{\"actionId\":\"{id}\"}}: when the user wants to know, \
         or once a minute at most."
    )
}

fn would(action: &Action) -> String {
    let proposal = &action.proposal;
    match &proposal.preview {
        Preview::Text(text) => quoted(text, LONGEST),
        Preview::None | Preview::Erased => run(action),
        Preview::Unavailable(why) => {
            format!(
                "{}; what that would do is not known, since its preview failed: {}",
                run(action),
                quoted(why, LONGEST)
            )
        }
    }
}

fn run(action: &Action) -> String {
    let proposal = &action.proposal;
    let arguments = proposal.arguments.kept().map(|text| plain(text.as_str(), LONGEST_ARGUMENTS));
    format!("run {} with {}", proposal.tool, arguments.unwrap_or_default())
}

/// It failed, and can be confirmed again.
fn tried(action: &Action, page: &str, until: Moment) -> String {
    let (code, message) = failure(action);
    format!(
        "It was tried and failed ({code}): {message} A person can confirm it again, until {until}, at {page}. \
         Do not propose it anew.{}",
        unless_none(action)
    )
}

fn failure(action: &Action) -> (Code, String) {
    let (code, message) = failure_of(action).unwrap_or((Code::ExecutionFailed, String::new()));
    let told = action.state.failure().map(|failure| failure.message.as_str());
    (code, quoted(told.unwrap_or(&message), LONGEST))
}

/// What it did, as far as that is known.
fn effect(action: &Action) -> String {
    match action.effect() {
        None | Some(Effect::None) => "Nothing was changed.".to_owned(),
        Some(Effect::Applied) => "A part of it was done; its ledger says which.".to_owned(),
        Some(Effect::Unknown) => {
            let check = wire::evidence::check(Effect::Unknown, &action.ledger).unwrap_or_default();
            format!(
                "What it did is not known: {} Tell the user; do not propose it again before somebody has looked.",
                quoted(&check, LONGEST)
            )
        }
    }
}

fn unless_none(action: &Action) -> String {
    match action.effect() {
        None | Some(Effect::None) => String::new(),
        Some(Effect::Applied | Effect::Unknown) => format!(" {}", effect(action)),
    }
}

/// An output as text: a JSON string as its characters, anything else to the letter.
pub(super) fn output_of(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}

/// What a person reads in a client who is given the page to decide on.
pub(super) fn to_decide(action: &Action) -> String {
    let (tool, tenant) = (&action.proposal.tool, form::name(action.proposal.tenant.as_str()));
    format!("Decide about {tool} for {tenant}. It would: {}", would(action))
}

/// A form was answered, and nothing ran for that. How the action stands comes after it.
pub(super) fn ran_nothing(code: Code, why: &str) -> String {
    format!(
        "Nothing ran for this answer, and it decides nothing any more ({code}): {} Tell the user. \
         How the action stands now:",
        quoted(why, LONGEST)
    )
}

/// Many actions, a line each.
pub(super) fn actions(actions: &[Action], more: bool) -> String {
    if actions.is_empty() {
        return "There is no such proposal of yours.".to_owned();
    }
    let lines = actions.iter().map(|action| {
        let status = action.state.status().as_str();
        format!("{} {}: {status}", action.id, action.proposal.tool)
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if more {
        text.push_str("\nThere are more; `cursor` takes the `nextCursor` of this part.");
    }
    text
}

/// Why a call failed, and whether it is worth repeating.
pub(super) fn problem(problem: &Problem) -> String {
    let mut text = format!("{}: {}", problem.code, plain(&problem.detail, LONGEST));
    for violation in &problem.errors {
        text.push_str(&format!("\n{}", plain(&violation.to_string(), LONGEST)));
    }
    match problem.retry_after {
        Some(pause) => text.push_str(&format!("\nTry again in {} s, not sooner.", seconds(pause))),
        None => {
            text.push('\n');
            text.push_str(advice(problem.code));
        }
    }
    text
}

/// Whole seconds, never too few.
fn seconds(pause: Duration) -> u128 {
    pause.as_millis().div_ceil(1000)
}

/// Whether it is worth repeating.
fn advice(code: Code) -> &'static str {
    match code {
        Code::InvalidArguments
        | Code::ToolNotFound
        | Code::Refused
        | Code::HandlerFailed
        | Code::HandlerTrapped
        | Code::LimitExceeded
        | Code::DestinationDenied
        | Code::ResultTooLarge
        | Code::ResultInvalid
        | Code::IdempotencyKeyReused
        | Code::KeyExpired
        | Code::ActionNotFound
        | Code::Unauthenticated
        | Code::Forbidden => "Calling again with the same arguments will not help.",
        Code::UpstreamUnavailable | Code::Overloaded | Code::StorageFull => "Trying again later may help.",
        Code::TimedOut => "Trying again later, or asking for less, may help.",
        Code::Internal => {
            "Trying again later may help; if it was a proposal, see with tether_actions first whether it was made."
        }
        Code::ExecutionFailedRetryable
        | Code::ExecutionFailed
        | Code::ExecutionAttemptsExhausted
        | Code::ActionExecuting
        | Code::ActionChanged
        | Code::ActionDecided
        | Code::ActionDeclined
        | Code::ActionExpired
        | Code::ActionOutdated => {
            "See with tether_actions where it stands before you do anything else about it."
        }
    }
}

#[cfg(test)]
mod tests;
