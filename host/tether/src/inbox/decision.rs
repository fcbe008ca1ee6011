//! The decision: what a person may do about an action, or who decided what.

use maud::{Markup, html};
use tether_core::action::{Action, Output, State};
use tether_core::id::UserId;
use tether_core::ledger::Effect;
use tether_gateway::failure_of;

use super::laid_out::laid_out;
use super::person::Person;
use super::words::{counted, named, time, told, told_in_lines};

/// `fell` are those who said yes and may no longer decide; `reason` is what the person had
/// written before.
pub(super) fn section(person: &Person, action: &Action, fell: &[UserId], reason: Option<&str>) -> Markup {
    match &action.state {
        State::Pending { .. } => html! {
            section.sheet.decision aria-labelledby="decision" {
                h2 #decision { "Your decision" }
                (deciding(person, action, fell, reason))
            }
        },
        _ => html! {
            section.sheet.decision aria-labelledby="decision" {
                h2 #decision { "What came of it" }
                (over(action))
            }
        },
    }
}

fn deciding(person: &Person, action: &Action, fell: &[UserId], reason: Option<&str>) -> Markup {
    if let Err(problem) = person.gateway.may_decide(&person.caller, action) {
        return html! { p { "You cannot decide this: " (told(&problem.detail)) "." } };
    }
    let by = &person.caller.user;
    let said_yes = action.state.approvals().iter().any(|approval| approval.claim.by == *by);
    html! {
        @if let Some((colour, warning)) = warning(action) {
            div.note.(colour) { p { b { (warning) } } p { "Read what earlier attempts did before you confirm it again." } }
        }
        @if !said_yes && !action.state.approvals().is_empty() {
            p { "Said yes: " @for (index, approval) in action.state.approvals().iter().enumerate() {
                @if index > 0 { ", " } b { (named(approval.claim.by.as_str())) }
            } "." }
        }
        @if let Some(gone) = fell.first() {
            div.note.failed {
                p { b { (named(gone.as_str())) " said yes, and may not decide about it any more." } }
                p { "So it does not run. Decline it, and have it proposed again if it is wanted." }
            }
        } @else if said_yes {
            p { "You said yes. Before it runs, it takes " (counted_people(action.approvals_missing(by))) " more." }
        } @else {
            (confirm(person, action))
        }
        (decline(person, action, reason))
    }
}

/// What may have happened already, and how bad that is.
fn warning(action: &Action) -> Option<(&'static str, &'static str)> {
    match action.effect()? {
        Effect::None => None,
        Effect::Applied => Some(("waits", "A part of it is done already.")),
        Effect::Unknown => Some(("failed", "It may have been done already. Nobody here can know.")),
    }
}

fn confirm(person: &Person, action: &Action) -> Markup {
    let used = action.state.attempts_used();
    let missing = action.approvals_missing(&person.caller.user);
    html! {
        form method="post" action={ "/inbox/actions/" (action.id) "/confirm" } {
            (person.proof())
            input type="hidden" name="attemptsUsed" value=(used);
            input type="hidden" name="approvals" value=(action.state.approvals().len());
            @if missing > 0 {
                p { "Your yes is written down. It runs once " (counted_people(missing)) " more said yes." }
                button.first #confirm { "Say yes" }
            } @else {
                p {
                    "It runs at once, with exactly these arguments, and cannot be undone here."
                    @if used > 0 { " This is attempt " (used + 1) " of " (action.proposal.max_attempts) "." }
                }
                button.first #confirm { "Confirm and run" }
            }
        }
    }
}

fn decline(person: &Person, action: &Action, reason: Option<&str>) -> Markup {
    html! {
        form method="post" action={ "/inbox/actions/" (action.id) "/decline" } {
            (person.proof())
            div {
                label for="reason" { "Reason " span.quiet { "(optional)" } }
                textarea #reason name="reason" maxlength="1000" aria-describedby="declining" { (reason.unwrap_or_default()) }
            }
            p.quiet #declining { "Declined, it never runs. Whoever asked sees the reason." }
            button #decline { "Decline" }
        }
    }
}

fn counted_people(number: u32) -> String {
    if number == 1 { "1 person".to_owned() } else { format!("{number} people") }
}

fn over(action: &Action) -> Markup {
    let attempts = counted(u64::from(action.state.attempts_used()), "attempt");
    match &action.state {
        State::Pending { .. } => html! {},
        State::Executing { attempt, claim, since, .. } => html! {
            p { b { "It is running." } " Attempt " (attempt) ", confirmed by " b { (named(claim.by.as_str())) } " at " (time(*since)) "." }
            p.quiet { "What it comes to appears here; load the page again if nothing moves." }
        },
        State::Succeeded { claim, at, output, .. } => html! {
            p { b { "It was done." } " Confirmed by " b { (named(claim.by.as_str())) } "; done at " (time(*at)) ", in " (attempts) "." }
            @match output {
                Output::Kept(json) => {
                    h3 #result { "Result" }
                    pre dir="ltr" tabindex="0" role="group" aria-labelledby="result" { bdi { (laid_out(json)) } }
                }
                Output::Erased => p { "Its result is no longer kept." }
            }
        },
        State::Failed { at, .. } => html! {
            p { b { "It failed for good." } " At " (time(*at)) ", after " (attempts) ". It will not run again." }
            @if let Some((code, message)) = failure_of(action) {
                p { (told(&message)) " " span.quiet { "(" (code) ")" } }
            }
        },
        State::Declined { at, by, reason, .. } => html! {
            p { b { "It was declined." } " By " b { (named(by.as_str())) } " at " (time(*at)) ". It never runs." }
            @if let Some(reason) = reason { p { "Reason: " (told_in_lines(reason)) } }
        },
        State::Expired { at, .. } => html! {
            p { b { "Nobody decided in time." } " It expired at " (time(*at)) ", and never runs." }
        },
    }
}
