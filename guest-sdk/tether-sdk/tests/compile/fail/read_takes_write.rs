use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read)]
fn idle(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
