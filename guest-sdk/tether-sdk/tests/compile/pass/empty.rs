//! A component may have no tool yet, and no database ever.
tether_sdk::component! { tools: [] }

fn main() {}
