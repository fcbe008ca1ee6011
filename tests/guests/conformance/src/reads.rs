//! Reads.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use tether_sdk::prelude::*;

use crate::content::{Content, audio, image, resource, text};

/// No arguments.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// Answers with a text.
#[tool(read)]
pub fn test_simple_text(_call: &Read, _args: Nothing) -> Result<String, ToolError> {
    Ok("This is a simple text response for testing.".into())
}

/// Answers with an image.
#[tool(read)]
pub fn test_image_content(_call: &Read, _args: Nothing) -> Result<Content, ToolError> {
    Ok(Content::of([image()]))
}

/// Answers with a sound.
#[tool(read)]
pub fn test_audio_content(_call: &Read, _args: Nothing) -> Result<Content, ToolError> {
    Ok(Content::of([audio()]))
}

/// Answers with a resource.
#[tool(read)]
pub fn test_embedded_resource(_call: &Read, _args: Nothing) -> Result<Content, ToolError> {
    let block = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.");
    Ok(Content::of([block]))
}

/// Answers with a text, an image and a resource.
#[tool(read)]
pub fn test_multiple_content_types(_call: &Read, _args: Nothing) -> Result<Content, ToolError> {
    let data =
        resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    Ok(Content::of([text("Multiple content types test:"), image(), data]))
}

/// Fails.
#[tool(read)]
pub fn test_error_handling(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Err(failed("TEST_ERROR", "This tool intentionally returns an error for testing"))
}

/// Logs nothing that a client is told: the host's log is the operator's.
#[tool(read)]
pub fn test_logging_tool(_call: &Read, _args: Nothing) -> Result<String, ToolError> {
    println!("This is a line for the operator.");
    Ok("logged".into())
}

/// Goes well at the third attempt: the attempts are what there is of progress.
#[tool(read)]
pub fn test_tool_with_progress(call: &Read, _args: Nothing) -> Result<u32, ToolError> {
    match call.attempt() {
        3 => Ok(3),
        _ => Err(transient("TEST_PROGRESS", "not yet")),
    }
}

/// Arguments whose schema has what the suite looks for.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Contact(Map<String, Value>);

impl JsonSchema for Contact {
    fn schema_name() -> Cow<'static, str> {
        "Contact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        })
    }
}

/// Tells how many arguments it got.
#[tool(read)]
pub fn json_schema_2020_12_tool(_call: &Read, args: Contact) -> Result<usize, ToolError> {
    Ok(args.0.len())
}

#[derive(Deserialize, JsonSchema)]
pub struct Greeted {
    /// Whom to greet.
    #[schemars(extend("x-mcp-header" = "Greeted"))]
    name: String,
}

/// Greets whom a header names as well.
#[tool(read)]
pub fn test_x_mcp_header(_call: &Read, args: Greeted) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", args.name))
}

#[derive(Deserialize, JsonSchema)]
pub struct Greet {
    /// Whom to greet.
    name: String,
}

/// Greets.
#[tool(read)]
pub fn greet(_call: &Read, args: Greet) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", args.name))
}
