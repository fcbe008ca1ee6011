//! End to end: the real binary, real components, real kills. Each file is a
//! subject, each test a feature. Effects are counted outside of Tether, in the
//! file of the tool's own database.

mod api;
mod away;
mod bad_input;
mod cli;
mod crash;
mod crowd;
mod endpoints;
mod faults;
mod identities;
mod inbox;
mod javascript;
mod load;
mod mcp;
mod outbound;
mod page;
mod python;
mod soak;
mod support;
mod webhooks;
