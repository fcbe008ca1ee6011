//! What `#[tool]` expands to. Public because the expansion stands in another
//! crate; authors never name any of it.

mod definition;
mod run;
mod schema;

pub use crate::bindings::tether::tool::types::{Effect, Invocation};
pub use definition::{Arguments, Definition, Handler, Outcome, Tool};
pub use run::{preview, read, write};
pub use schema::{input_schema, output_schema};
