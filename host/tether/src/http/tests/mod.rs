//! The API over real connections, on scripted handlers. Every answer is checked
//! against the OpenAPI document.

mod answers;
mod document;
mod matrix;
mod mcp;
mod people;
mod requests;
mod scripted;
mod server;
mod sessions;
mod sign_in;
mod slow;
mod tokens;
