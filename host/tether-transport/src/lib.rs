//! HTTP that leaves the host. The only crate that names the HTTP client.

pub mod client;
mod tls;
