use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read, name = "do nothing")]
fn idle(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

/// Does nothing.
#[tool(read)]
fn müßig(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
