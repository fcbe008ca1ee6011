//! `tether_actions`: what became of one's own proposals.

use std::sync::LazyLock;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use tether_core::action::{Action, Status};
use tether_core::id::ActionId;
use tether_core::json::JsonText;
use tether_core::problem::{Code, Problem};
use tether_core::schema::Schema;
use tether_gateway::Gateway;

use super::action::{self, Pages};
use super::exchange::Exchange;
use super::tools::{Does, Listed};
use super::words;
use crate::http::text;
use crate::wire;

/// What it is called. No tool of a component or an endpoint may be.
pub(super) const NAME: &str = "tether_actions";

/// The longest page, in bytes, unless it is one action.
const LONGEST_PAGE: usize = 1 << 20;

const INPUT: &str = r#"{
  "type": "object",
  "properties": {
    "actionId": {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "Only this one."},
    "status": {"enum": ["Pending", "Executing", "Succeeded", "Failed", "Declined", "Expired"], "description": "Only those that stand so."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "At most so many; fewer where they are long."},
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
        let list = wire::ActionList { actions: vec![action::object(&action)], next_cursor: None };
        let mut result = CallToolResult::success(action::blocks(&action, pages));
        result.structured_content = Some(exchange.splices().put(&text(&list)));
        result.meta = Some(action::meta(&action, pages));
        return Ok(result);
    }
    let status = wanted.status.as_deref().and_then(Status::from_word);
    // The schema says that it is a whole number from 1 to 100; `2e1` is one.
    let mut limit = wanted.limit.map_or(20, |limit| limit as usize);
    let page = loop {
        let page = gateway.actions(&exchange.caller, status, limit, wanted.cursor.clone()).await;
        let page = page.map_err(in_terms_of_tools)?;
        let fitting = fitting(&page.actions, LONGEST_PAGE);
        if fitting == page.actions.len() {
            break page;
        }
        // Asked for again: where the next page begins, the store alone can say.
        limit = fitting;
    };
    let words = words::actions(&page.actions, page.next.is_some());
    let actions = page.actions.iter().map(action::object).collect();
    let mut result = CallToolResult::success(vec![ContentBlock::text(words)]);
    let list = wire::ActionList { actions, next_cursor: page.next };
    result.structured_content = Some(exchange.splices().put(&text(&list)));
    Ok(result)
}

/// How many of these go on a page of so many bytes: all, or as many as fit, and one at least.
fn fitting(actions: &[Action], most: usize) -> usize {
    let mut bytes = 0;
    let fit = actions.iter().take_while(|action| {
        bytes += text(&action::object(action)).len();
        bytes <= most
    });
    fit.count().max(1).min(actions.len())
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
