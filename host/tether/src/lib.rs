//! The roof: HTTP, the command line, and the wiring of the floors below.
//!
//! Data comes in through [`http`] as [`wire`] types, goes down once through
//! `tether-gateway`, and comes back up once. [`app`] builds the floors from a
//! [`config`].

pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod data_folder;
#[cfg(debug_assertions)]
mod fault;
pub mod handlers;
pub mod http;
pub mod identity;
mod inbox;
mod mcp;
pub mod progress;
mod scratch;
pub mod telemetry;
pub mod token;
pub mod webhooks;
pub mod wire;
