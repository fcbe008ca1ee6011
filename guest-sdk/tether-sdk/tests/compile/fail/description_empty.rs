use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tool(read, description = " ")]
fn idle(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
