use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read)]
fn none() -> Result<(), ToolError> {
    Ok(())
}

/// Does nothing.
#[tool(write)]
fn three(_call: &Write, _id: i64, _title: String) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
