//! Outbound requests, which the host sends, or refuses to.

mod error;
mod request;
mod response;

pub use error::HttpError;
pub use request::Request;
pub use response::Response;
