use tether_sdk::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Does nothing.
#[tool(read)]
fn nothing(_call: &Read, _args: Nothing) {}

/// Does nothing.
#[tool(read)]
fn number(_call: &Read, _args: Nothing) -> i64 {
    0
}

fn main() {}
