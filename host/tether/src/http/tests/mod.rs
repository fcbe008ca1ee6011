//! The API over real connections, on scripted handlers. Every answer is checked
//! against the OpenAPI document.

mod answers;
mod document;
mod requests;
mod scripted;
mod server;
mod slow;
