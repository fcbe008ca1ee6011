//! The ground floor of Tether: its words, its decisions, and the ports through
//! which the floors above are reached.
//!
//! Nothing here does I/O and nothing here waits. A rule that can be decided from
//! values is decided here, as a function, and is tested as a table.

pub mod action;
pub mod allowance;
pub mod audit;
pub mod chain;
pub mod clock;
pub mod confirm;
pub mod destination;
pub mod digest;
pub mod failure;
pub mod fault;
pub mod grant;
pub mod hex;
pub mod id;
pub mod identity;
pub mod invocation;
pub mod json;
pub mod ledger;
pub mod mask;
pub mod plain;
pub mod port;
pub mod problem;
pub mod retry;
pub mod rule;
pub mod schema;
pub mod settlement;
pub mod tool;
