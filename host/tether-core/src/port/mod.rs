//! The ports: what the gateway and the runner need of floors that they may not
//! name. The roof plugs the floors together.

use std::future::Future;
use std::pin::Pin;

pub mod actions;
pub mod announcements;
pub mod databases;
pub mod handlers;
pub mod hooks;
pub mod journal;
pub mod people;
pub mod sessions;
pub mod tokens;

/// What a port's method answers with, later.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
