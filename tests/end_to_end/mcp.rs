//! Agents over MCP: both generations of the protocol against the real binary.

mod around;
mod bridge;
mod client;
mod clients;
mod conformance;
mod crowd;
mod cuts;
mod doors;
mod forms;
mod headers;
mod logs;
mod metadata;
mod proposals;
mod reads;
mod restart;
mod same_answers;
mod sizes;

/// A revision of each generation.
const BOTH: [&str; 2] = ["2025-11-25", client::STATELESS];
