//! Write Tether tools in Rust.
//!
//! A tool is a function. A *read* gets a [`Read`], which has no way to change
//! anything. A *write* gets a [`Write`] after a person confirmed it, and does
//! its work in [`Write::once`], which records the output in the transaction of
//! the work itself: however often the call is repeated, it happens once.
//!
//! ```
//! use tether_sdk::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct VoidTicket {
//!     /// The ticket's number.
//!     ticket_id: i64,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Voided {
//!     ticket_id: i64,
//! }
//!
//! #[tool(write, description = "Void a ticket", preview = preview_void)]
//! fn void_ticket(call: &Write, args: VoidTicket) -> Result<Voided, ToolError> {
//!     call.once("main", |tx| {
//!         let changed = tx.execute(
//!             "UPDATE tickets SET state = 'void' WHERE id = $1 AND state = 'open'",
//!             params![args.ticket_id],
//!         )?;
//!         if changed == 0 {
//!             return Err(refused("TICKET_NOT_OPEN", "the ticket is not open"));
//!         }
//!         Ok(Voided { ticket_id: args.ticket_id })
//!     })
//! }
//!
//! fn preview_void(call: &Read, args: VoidTicket) -> Result<Option<String>, ToolError> {
//!     let title: Option<String> = call.query_optional(
//!         "main",
//!         "SELECT title FROM tickets WHERE id = $1",
//!         params![args.ticket_id],
//!     )?;
//!     Ok(title.map(|title| format!("Void ticket {} ({title})", args.ticket_id)))
//! }
//!
//! tether_sdk::component! {
//!     tools: [void_ticket],
//!     migrations: [
//!         migration("main", "0001-tickets", "CREATE TABLE tickets (id INTEGER PRIMARY KEY, …)"),
//!     ],
//! }
//! # fn main() {}
//! ```
//!
//! Schemas come from the types, so doc comments on fields are what the model
//! reads. Doc comments on the function serve as its description where the
//! attribute gives none.
//!
//! The crate of a component has `crate-type = ["cdylib"]`, lists `serde` and
//! `schemars` beside `tether-sdk`, and is built with
//! `cargo build --release --target wasm32-wasip2`. For other targets it
//! compiles as well, so that an author's own logic can be tested; whatever asks
//! the host panics there.

// The crate's own doc tests and the expansion of `#[tool]` name it so.
extern crate self as tether_sdk;

// Generated, and therefore neither formatted nor documented by hand.
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub, unsafe_op_in_unsafe_fn, clippy::all)]
#[rustfmt::skip]
pub mod bindings;
#[doc(hidden)]
pub mod component;
#[doc(hidden)]
pub mod tool;

mod call;
mod database;
mod error;
mod http;
pub mod prelude;

pub use call::{Read, Write};
pub use component::{Migration, migration};
pub use database::{DatabaseError, FromRow, Row, Transaction, Value};
pub use error::{Fault, ToolError, failed, invalid_arguments, refused, transient};
pub use http::{HttpError, Request, Response};
pub use tether_sdk_macros::tool;
