//! Writes: each is proposed, and a person decides.

use tether_sdk::prelude::*;

use crate::reads::Nothing;

#[derive(Deserialize, JsonSchema)]
pub struct Message {
    /// What the person is told.
    message: String,
}

/// Repeats a message that a person has seen.
#[tool(write)]
pub fn test_elicitation(_call: &Write, args: Message) -> Result<String, ToolError> {
    Ok(args.message)
}

/// Does nothing, once a person has said yes.
#[tool(write)]
pub fn test_streaming_elicitation(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

/// Does nothing, once a person has said yes.
#[tool(write)]
pub fn test_input_required_result_elicitation(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

/// Does nothing, once a person has said yes.
#[tool(write)]
pub fn test_input_required_result_request_state(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

/// Does nothing, once a person has said yes.
#[tool(write)]
pub fn test_input_required_result_tampered_state(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
pub struct Compute {
    /// How long it would take; it takes no time here.
    seconds: u32,
    /// What it is called.
    label: String,
}

/// Computes something.
#[tool(write)]
pub fn slow_compute(_call: &Write, args: Compute) -> Result<String, ToolError> {
    Ok(format!("{} after {} s", args.label, args.seconds))
}

/// Fails.
#[tool(write)]
pub fn failing_job(_call: &Write, _args: Nothing) -> Result<(), ToolError> {
    Err(refused("FAILING_JOB", "This job always fails"))
}

#[derive(Deserialize, JsonSchema)]
pub struct File {
    /// What would be deleted.
    filename: String,
}

/// Deletes nothing, once a person has said yes.
#[tool(write)]
pub fn confirm_delete(_call: &Write, args: File) -> Result<String, ToolError> {
    Ok(args.filename)
}
