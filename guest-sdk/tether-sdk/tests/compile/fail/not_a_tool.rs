use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn idle(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

tether_sdk::component! { tools: [idle] }

fn main() {}
