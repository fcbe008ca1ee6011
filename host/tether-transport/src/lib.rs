//! HTTP that leaves the host. The only crate that names the HTTP client.

pub mod client;
pub mod endpoint;
pub mod errand;
mod heavy;
pub mod outbound;
#[cfg(test)]
mod random;
pub mod retry_after;
mod tls;
