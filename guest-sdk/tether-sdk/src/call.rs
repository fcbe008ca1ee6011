//! What a tool sees of the call that it answers.

mod read;
mod write;

pub use read::Read;
pub use write::Write;

pub(crate) use write::to_json;
