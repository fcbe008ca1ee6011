//! What a component says of itself, checked before anybody relies on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tether_core::grant::{Binding, BoundComponent};
use tether_core::id::{DatabaseName, ToolName};
use tether_core::json::JsonText;
use tether_core::schema::Schema;
use tether_core::tool::{Migration, Offer, Tool, ToolEffect};

use super::ToolParts;
use crate::bindings::tether::tool::types;
use crate::guest::call::OutputRule;
use tether_core::plain::plain;

/// Tools of one component, and characters of a tool's texts.
const MAX_TOOLS: usize = 1_000;
const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 10_000;

/// What is wrong, as part of a sentence.
type Wrong = String;

/// The tools of a component.
pub(super) fn tools(
    tools: Vec<types::Tool>,
    binding: &BoundComponent,
    max_output_bytes: usize,
) -> Result<BTreeMap<ToolName, ToolParts>, Wrong> {
    if tools.is_empty() {
        return Err("it offers no tool".into());
    }
    if tools.len() > MAX_TOOLS {
        return Err(format!("it offers {} tools; the limit is {MAX_TOOLS}", tools.len()));
    }
    let mut checked = BTreeMap::new();
    for tool in tools {
        let shown = plain(&tool.name, 128);
        let parts =
            parts(tool, binding, max_output_bytes).map_err(|wrong| format!("tool `{shown}`: {wrong}"))?;
        if checked.insert(parts.offer.tool.name.clone(), parts).is_some() {
            return Err(format!("two of its tools have the name `{shown}`"));
        }
    }
    Ok(checked)
}

fn parts(tool: types::Tool, binding: &BoundComponent, max_output_bytes: usize) -> Result<ToolParts, Wrong> {
    let name = tool.name.parse::<ToolName>().map_err(|error| error.to_string())?;
    let long = |text: &str, most| text.chars().count() > most;
    if tool.title.as_deref().is_some_and(|title| long(title, MAX_TITLE)) {
        return Err(format!("its title has more than {MAX_TITLE} characters"));
    }
    if long(&tool.description, MAX_DESCRIPTION) {
        return Err(format!("its description has more than {MAX_DESCRIPTION} characters"));
    }
    let (input_schema, input) =
        schema(tool.input_schema).map_err(|wrong| format!("its input schema: {wrong}"))?;
    if !is_object_schema(&input_schema) {
        return Err("its input schema: it must be the schema of an object, with \"type\": \"object\"".into());
    }
    let output = tool.output_schema.map(schema).transpose();
    let (output_schema, output) = output.map_err(|wrong| format!("its output schema: {wrong}"))?.unzip();
    let tool = Tool {
        name,
        title: tool.title,
        description: tool.description,
        effect: match tool.effect {
            types::Effect::Read => ToolEffect::Read,
            types::Effect::Write => ToolEffect::Write,
        },
        input_schema,
        output_schema,
    };
    Ok(ToolParts {
        offer: Arc::new(Offer { tool, binding: Binding::Component(binding.clone()), input: Arc::new(input) }),
        output: Arc::new(OutputRule { max_bytes: max_output_bytes, schema: output }),
    })
}

fn schema(text: String) -> Result<(JsonText, Schema), Wrong> {
    let text = JsonText::parse(text).map_err(|error| error.to_string())?;
    let schema = Schema::compile(&text).map_err(|error| plain(&error.to_string(), 500))?;
    Ok((text, schema))
}

fn is_object_schema(schema: &JsonText) -> bool {
    schema.to_value().get("type").is_some_and(|kind| kind == "object")
}

/// The migrations of a component, in its order.
pub(super) fn migrations(
    migrations: Vec<types::Migration>,
    binding: &BoundComponent,
) -> Result<Arc<[Migration]>, Wrong> {
    let mut seen = BTreeSet::new();
    let mut checked = Vec::new();
    for types::Migration { database, id, sql } in migrations {
        let shown = plain(&id, 128);
        let wrong = |what: &str| format!("migration `{shown}`: {what}");
        let name = database.parse::<DatabaseName>().map_err(|error| wrong(&error.to_string()))?;
        if !binding.grants.databases.contains_key(&name) {
            return Err(wrong(&format!(
                "it changes the database `{name}`, which is not granted to this component; \
                 grant it in the configuration"
            )));
        }
        if id.is_empty() || id.chars().count() > 128 || id.chars().any(char::is_control) {
            return Err(wrong("its id must have 1 to 128 characters and no control characters"));
        }
        if !seen.insert((name.clone(), id.clone())) {
            return Err(wrong(&format!("two migrations of the database `{name}` have this id")));
        }
        checked.push(Migration { database: name, id, sql });
    }
    Ok(checked.into())
}
