//! A tool, its types erased, and what its types must be.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Effect, Invocation};
use crate::error::ToolError;

/// Implemented by `#[tool]`, for an empty type with the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool",
    label = "mark the function with `#[tool(read, …)]` or `#[tool(write, …)]`"
)]
pub trait Tool {
    /// The tool.
    const DEFINITION: Definition;
}

/// A tool, its types erased: functions instead of values, so that a component
/// builds its schemas only when it is asked for them.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// What a model calls it by.
    pub name: &'static str,
    /// A short name for people.
    pub title: Option<&'static str>,
    /// What it does, for the model that chooses it.
    pub description: &'static str,
    /// Whether it is a read or a write.
    pub effect: Effect,
    /// JSON Schema of its arguments.
    pub input_schema: fn() -> String,
    /// JSON Schema of its output.
    pub output_schema: fn() -> String,
    /// Runs it; the output is JSON.
    pub invoke: Handler<String>,
    /// Of a write: what the person who confirms is told.
    pub preview: Option<Handler<Option<String>>>,
}

/// A function of the author's that answers an invocation, its types erased.
pub type Handler<O> = fn(Invocation) -> Result<O, ToolError>;

/// What a tool's arguments must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    label = "derive `Deserialize` and `JsonSchema` for it"
)]
pub trait Arguments: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Arguments for T {}

/// What a tool must return: `Result<_, ToolError>`, its output `Serialize` and
/// `JsonSchema`. Another error that becomes a `ToolError` does as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a tool returns",
    label = "return `Result<_, ToolError>`, and derive `Serialize` and `JsonSchema` for the output"
)]
pub trait Outcome {
    /// The output.
    type Output: Serialize + JsonSchema;

    /// The same, its error the contract's.
    ///
    /// # Errors
    ///
    /// The tool's own.
    fn into_result(self) -> Result<Self::Output, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<O: Serialize + JsonSchema, E: Into<ToolError>> Outcome for Result<O, E> {
    type Output = O;

    fn into_result(self) -> Result<O, ToolError> {
        self.map_err(Into::into)
    }
}
