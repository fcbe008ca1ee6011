//! Everything that a file with tools needs.
//!
//! The derives come from `serde` and `schemars`, which an author's own
//! `Cargo.toml` must list beside `tether-sdk`.

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::{
    DatabaseError, HttpError, Read, Request, Response, Row, ToolError, Transaction, Write, failed,
    invalid_arguments, migration, params, refused, tool, transient,
};
