//! An action, as a model is told of it.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::Value;
use tether_core::action::{Action, Output, State};
use tether_core::problem::Code;
use tether_gateway::{Outcome, Told};

use super::splice::Splices;
use super::{content, words};
use crate::http::{outcome_body, seen, text};
use crate::wire;

/// What is promised of an action. It has other members as well.
const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["status", "actionId", "commandType", "attemptsUsed", "maxAttempts", "createdAt"],
  "properties": {
    "status": {"enum": ["Pending", "Executing", "Succeeded", "Replayed", "FailedRetryable", "Failed", "Conflict", "Declined", "Expired"]},
    "actionId": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "commandType": {"type": "string"},
    "args": {"description": "The arguments; null where they are longer than 64 KiB, or no longer kept."},
    "preview": {"type": ["string", "null"]},
    "attemptsUsed": {"type": "integer"},
    "maxAttempts": {"type": "integer"},
    "createdAt": {"type": "string"},
    "expiresAt": {"type": ["string", "null"]},
    "result": {},
    "errorCode": {"type": ["string", "null"]},
    "errorMessage": {"type": ["string", "null"]},
    "effect": {"enum": ["None", "Applied", "Unknown", null]},
    "check": {"type": ["string", "null"]},
    "declineReason": {"type": ["string", "null"]}
  }
}"#;

/// The longest arguments that are told, in bytes: whoever proposed has them, and there are
/// clients that take no message above 1 MiB.
const LONGEST_ARGUMENTS: usize = 64 << 10;

/// The schema of an action.
///
/// # Panics
///
/// Never: it is an object.
pub(super) fn schema() -> JsonObject {
    serde_json::from_str(SCHEMA).expect("a schema is an object")
}

/// Where people decide about actions: the address of each, without its id.
#[derive(Debug, Clone)]
pub(super) struct Pages(pub(super) String);

impl Pages {
    pub(super) fn of(&self, action: &Action) -> String {
        format!("{}{}", self.0, action.id)
    }
}

/// An action as HTTP's object, to the letter but for arguments that are too long.
pub(super) fn object(action: &Action) -> wire::Action {
    bounded(action, seen(action))
}

fn bounded(action: &Action, mut object: wire::Action) -> wire::Action {
    let arguments = action.proposal.arguments.kept();
    if arguments.is_some_and(|arguments| arguments.as_str().len() > LONGEST_ARGUMENTS) {
        object.args = None;
    }
    object
}

/// An action as text, and as an object.
pub(super) fn result(action: &Action, pages: &Pages, splices: &Splices) -> CallToolResult {
    told(action, object(action), pages, splices)
}

/// What a decision came to: the same with HTTP's answer to it.
pub(super) fn outcome(outcome: &Outcome, pages: &Pages, splices: &Splices) -> CallToolResult {
    let action = &outcome.action;
    let mut result = told(action, bounded(action, outcome_body(outcome)), pages, splices);
    // One that is executing may do so for this very answer.
    if let (Told::Conflict(code), Some((_, why))) = (outcome.told, outcome.error())
        && code != Code::ActionExecuting
    {
        result.content.insert(0, ContentBlock::text(words::ran_nothing(code, &why)));
    }
    result
}

fn told(action: &Action, object: wire::Action, pages: &Pages, splices: &Splices) -> CallToolResult {
    let mut result = CallToolResult::success(blocks(action, pages));
    result.structured_content = Some(splices.put(&text(&object)));
    result.meta = Some(meta(action, pages));
    result
}

/// Where it stands, in words, and the blocks that its result brings.
pub(super) fn blocks(action: &Action, pages: &Pages) -> Vec<ContentBlock> {
    if let State::Succeeded { output: Output::Kept(output), .. } = &action.state
        && let Some(blocks) = content::blocks_of(output.as_str())
    {
        let first = ContentBlock::text(words::done_with_blocks(action));
        return [first].into_iter().chain(blocks).collect();
    }
    vec![ContentBlock::text(words::action(action, &pages.of(action)))]
}

/// The page of it, for programs.
pub(super) fn meta(action: &Action, pages: &Pages) -> MetaObject {
    MetaObject(JsonObject::from_iter([("tether/inboxUrl".to_owned(), Value::String(pages.of(action)))]))
}
