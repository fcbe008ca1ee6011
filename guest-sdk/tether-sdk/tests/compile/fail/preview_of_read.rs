use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read, preview = preview_idle)]
fn idle(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

fn preview_idle(_call: &Read, _args: Nothing) -> Result<Option<String>, ToolError> {
    Ok(None)
}

fn main() {}
