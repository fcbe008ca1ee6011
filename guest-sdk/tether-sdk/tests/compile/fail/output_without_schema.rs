use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize)]
struct Bare {}

/// Does nothing.
#[tool(read)]
fn idle(_call: &Read, _args: Nothing) -> Result<Bare, ToolError> {
    Ok(Bare {})
}

fn main() {}
