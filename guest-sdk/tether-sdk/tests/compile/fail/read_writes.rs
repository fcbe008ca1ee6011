use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read)]
fn idle(call: &Read, _args: Nothing) -> Result<(), ToolError> {
    call.once("main", |_| Ok(()))
}

fn main() {}
