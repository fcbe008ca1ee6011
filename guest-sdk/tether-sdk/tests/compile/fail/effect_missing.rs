use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool]
fn idle(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
