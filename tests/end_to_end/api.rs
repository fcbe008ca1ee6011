//! Each route of the HTTP API, with its status codes and shapes.

mod actions;
mod decisions;
mod doors;
mod logs;
mod previews;
mod tools;
