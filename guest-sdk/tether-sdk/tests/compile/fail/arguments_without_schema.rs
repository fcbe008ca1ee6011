use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize)]
struct Bare {}

/// Does nothing.
#[tool(read)]
fn idle(_call: &Read, _args: Bare) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
