//! `tether_actions`: what became of one's own proposals.

use std::sync::LazyLock;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use tether_core::action::Status;
use tether_core::id::ActionId;
use tether_core::json::JsonText;
use tether_core::problem::{Code, Problem};
use tether_core::schema::Schema;
use tether_gateway::Gateway;

use super::action::{self, Pages};
use super::exchange::Exchange;
use super::tools::{Does, Listed};
use super::words;
use crate::http::{seen, text};
use crate::wire;

/// What it is called. No tool of a component or an endpoint may be.
pub(super) const NAME: &str = "tether_actions";

const INPUT: &str = r#"{
  "type": "object",
  "properties": {
    "actionId": {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "Only this one."},
    "status": {"enum": ["Pending", "Executing", "Succeeded", "Failed", "Declined", "Expired"], "description": "Only those that stand so."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "At most so many."},
    "cursor": {"type": "string", "description": "The `nextCursor` of the part before."}
  },
  "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    action_id: Option<String>,
    status: Option<String>,
    limit: Option<f64>,
    cursor: Option<String>,
}

/// The tool.
pub(super) fn listed() -> Listed {
    let output = json!({
        "type": "object",
        "required": ["actions", "nextCursor"],
        "properties": {
            "actions": {"type": "array", "items": action::schema()},
            "nextCursor": {"type": ["string", "null"]},
        },
    });
    let mut tool = Tool::new(NAME, words::ACTIONS_DESCRIPTION, object(input().to_value()));
    tool.title = Some(words::ACTIONS_TITLE.to_owned());
    tool.output_schema = Some(object(output).into());
    tool.annotations =
        Some(ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false)));
    Listed { tool, does: Does::TellsOfActions, has_headers: false }
}

/// # Panics
///
/// Never: it is JSON.
fn input() -> JsonText {
    JsonText::parse(INPUT).expect("a schema is JSON")
}

/// Panics never: it is a schema.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::compile(&input()).expect("a schema"));

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Calls it.
pub(super) async fn call(
    gateway: &Gateway,
    exchange: &Exchange,
    pages: &Pages,
) -> Result<CallToolResult, Problem> {
    SCHEMA.check(&exchange.arguments).map_err(|errors| Problem {
        errors,
        ..Problem::new(Code::InvalidArguments, format!("the arguments do not fit the schema of `{NAME}`"))
    })?;
    let wanted: Wanted = serde_json::from_value(exchange.arguments.to_value())
        .map_err(|error| Problem::new(Code::InvalidArguments, error.to_string()))?;
    if let Some(id) = wanted.action_id {
        let id: ActionId = id.parse().map_err(|_| no_such_action())?;
        let action = gateway.action(&exchange.caller, id).await.map_err(in_terms_of_tools)?;
        let list = wire::ActionList { actions: vec![seen(&action)], next_cursor: None };
        let mut result = CallToolResult::success(action::blocks(&action, pages));
        result.structured_content = Some(exchange.splices().put(&text(&list)));
        result.meta = Some(action::meta(&action, pages));
        return Ok(result);
    }
    let status = wanted.status.as_deref().and_then(Status::from_word);
    // The schema says that it is a whole number from 1 to 100; `2e1` is one.
    let limit = wanted.limit.map_or(20, |limit| limit as usize);
    let page = gateway.actions(&exchange.caller, status, limit, wanted.cursor).await;
    let page = page.map_err(in_terms_of_tools)?;
    let words = words::actions(&page.actions, page.next.is_some());
    let actions = page.actions.iter().map(seen).collect();
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    let list = wire::ActionList { actions, next_cursor: page.next };
    result.structured_content = Some(exchange.splices().put(&text(&list)));
    Ok(result)
}

/// Whoever reads it knows tools and no routes.
fn in_terms_of_tools(problem: Problem) -> Problem {
    match problem.code {
        Code::ActionNotFound => no_such_action(),
        _ if problem.malformed => Problem { malformed: false, ..problem },
        _ => problem,
    }
}

fn no_such_action() -> Problem {
    Problem::new(
        Code::ActionNotFound,
        "there is no such action of yours; tether_actions without `actionId` lists them",
    )
}
