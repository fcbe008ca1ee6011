//! `/mcp` over real connections, on scripted handlers, in both generations of the protocol.

mod batches;
mod calls;
mod client;
mod decisions;
mod door;
mod foreign;
mod forms;
mod listening;
mod proposals;
mod protocol;
