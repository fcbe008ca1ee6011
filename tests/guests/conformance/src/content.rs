//! Outputs that bring blocks of MCP's own.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use tether_sdk::prelude::*;

/// An envelope of blocks: see `docs/mcp.md`.
#[derive(Serialize, Deserialize)]
pub struct Content {
    #[serde(rename = "mcpContent")]
    blocks: Vec<Value>,
}

impl JsonSchema for Content {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "mcpContent": { "type": "array", "items": { "type": "object" } } },
            "required": ["mcpContent"]
        })
    }
}

impl Content {
    pub fn of(blocks: impl Into<Vec<Value>>) -> Self {
        Self { blocks: blocks.into() }
    }
}

pub fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// One red pixel.
pub fn image() -> Value {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
    json!({ "type": "image", "data": data, "mimeType": "image/png" })
}

/// One silent sample.
pub fn audio() -> Value {
    let data = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";
    json!({ "type": "audio", "data": data, "mimeType": "audio/wav" })
}

pub fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}
