//! What an action was seen to do, all attempts together: on it a person decides whether
//! another attempt is safe.

use maud::{Markup, html};
use tether_core::action::{Action, State};
use tether_core::ledger::{Answer, Effect, Entry, Fact};
use tether_gateway::failure_of;

use super::words::{code, time, told};
use crate::wire;

/// Nothing before the first attempt.
pub(super) fn section(action: &Action) -> Markup {
    if action.state.attempts_used() == 0 {
        return html! {};
    }
    let heading = match action.state {
        State::Pending { .. } => "What earlier attempts did",
        State::Executing { .. } => "What it has done so far",
        _ => "What it was seen to do",
    };
    html! {
        section.sheet aria-labelledby="evidence" {
            h2 #evidence { (heading) }
            @if let Some(effect) = action.effect() { (summary(action, effect)) }
            @if let State::Pending { .. } = action.state { (failure(action)) }
            @if action.ledger.entries().is_empty() {
                p.quiet { "Nothing was committed, and nothing was sent." }
            } @else {
                ol.steps { @for entry in action.ledger.entries() { li { (seen(entry)) } } }
            }
        }
    }
}

/// What may be said about the effect, and where nobody knows, what to check.
fn summary(action: &Action, effect: Effect) -> Markup {
    let view = wire::Viewed { action, status: action.state.status().into(), error: failure_of(action) };
    let check = wire::Action::from(view).check;
    match effect {
        Effect::None => {
            html! { p { b { "No effect." } " Nothing was committed, and nothing that changes anything was sent." } }
        }
        Effect::Applied => match action.state {
            State::Succeeded { .. } => html! { p { b { "It was applied." } } },
            _ => {
                html! { div.note.waits { p { b { "A part of it was applied." } } p { "The steps below are done. Another attempt goes on after them." } } }
            }
        },
        Effect::Unknown => html! {
            div.note.failed {
                p { b { "Nobody here can know what it did." } }
                @if let Some(check) = check { p { (told(&check)) } }
            }
        },
    }
}

fn failure(action: &Action) -> Markup {
    let Some(failure) = action.state.failure() else { return html! {} };
    html! {
        p {
            "Attempt " (action.state.attempts_used()) " failed: " (told(&failure.message))
            " " span.quiet {
                "(" (failure.cause.code())
                @if let Some(code) = &failure.handler_code { ", " (told(code)) }
                ")"
            }
        }
    }
}

fn seen(entry: &Entry) -> Markup {
    let (what, step, statements) = match &entry.fact {
        Fact::Committed { database, step, statements } => {
            (html! { "Committed in " (code(database.as_str())) }, step, statements.as_slice())
        }
        Fact::Sent { request, answer } => {
            let line = format!("{} {}{}", request.method, request.origin, request.path);
            let went = match answer {
                Answer::InDoubt => html! { b { "no answer: it may have acted" } },
                Answer::NotSent => html! { "never left" },
                Answer::Status(status) => html! { "answered " (status) },
            };
            (html! { (code(&line)) ": " (went) }, &request.step, &[][..])
        }
    };
    html! {
        p { (what) }
        p.facts {
            (time(entry.at))
            span { "attempt " (entry.attempt) }
            @if let Some(step) = step { span { "step " (code(step.as_str())) } }
        }
        @for statement in statements { pre.short { bdi { (told(statement)) } } }
    }
}
