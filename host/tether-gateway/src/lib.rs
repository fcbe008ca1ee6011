//! The gateway: everything that happens between a caller and a handler.
//!
//! [`Gateway::call`] runs reads and proposes writes, [`Gateway::confirm`] runs a
//! write once, and [`Gateway::recover`] settles what a crash left behind. The
//! floors below are reached through core's ports, so that all of this is tested
//! with neither Wasm nor SQL.

mod admit;
mod away;
mod call;
mod confirm;
mod decline;
mod endings;
mod gateway;
mod in_client;
mod journal;
mod look;
mod outcome;
mod propose;
mod random;
mod recover;
mod said_yes;
mod settle;
mod sweep;
mod sync;
mod tour;

pub use admit::MAX_ARGUMENTS;
pub use call::{Answer, Called};
pub use gateway::{Gateway, Settings};
pub use outcome::{Outcome, Told, failure_of, store_problem};
use random::{chance, fresh_action_id, fresh_request_id};
pub use recover::Recovered;
