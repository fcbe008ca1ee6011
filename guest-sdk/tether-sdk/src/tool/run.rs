//! From an invocation to a function of the author's, and back.

use super::{Arguments, Invocation, Outcome};
use crate::call::{Read, Write, to_json};
use crate::error::{ToolError, invalid_arguments};

/// Runs a read.
///
/// # Errors
///
/// The tool's own, and arguments that are no `A`.
pub fn read<A: Arguments, R: Outcome>(
    mut invocation: Invocation,
    tool: fn(&Read, A) -> R,
) -> Result<String, ToolError> {
    let arguments = arguments(&mut invocation)?;
    to_json(&tool(&Read::new(invocation), arguments).into_result()?)
}

/// Runs a write.
///
/// # Errors
///
/// The tool's own, and arguments that are no `A`.
pub fn write<A: Arguments, R: Outcome>(
    mut invocation: Invocation,
    tool: fn(&Write, A) -> R,
) -> Result<String, ToolError> {
    let arguments = arguments(&mut invocation)?;
    to_json(&tool(&Write::new(invocation), arguments).into_result()?)
}

/// Asks a write for its preview.
///
/// # Errors
///
/// The preview's own, and arguments that are no `A`.
pub fn preview<A: Arguments>(
    mut invocation: Invocation,
    preview: fn(&Read, A) -> Result<Option<String>, ToolError>,
) -> Result<Option<String>, ToolError> {
    let arguments = arguments(&mut invocation)?;
    preview(&Read::new(invocation), arguments)
}

/// The host checked them against the schema; a type may still ask for more.
fn arguments<A: Arguments>(invocation: &mut Invocation) -> Result<A, ToolError> {
    let text = std::mem::take(&mut invocation.arguments);
    serde_json::from_str(&text).map_err(|error| invalid_arguments(error.to_string()))
}
