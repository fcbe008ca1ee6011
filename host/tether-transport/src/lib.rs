//! HTTP that leaves the host. The only crate that names the HTTP client.

pub mod client;
pub mod endpoint;
pub mod outbound;
pub mod retry_after;
#[cfg(test)]
mod random;
mod tls;
