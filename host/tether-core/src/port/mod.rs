//! The ports: what the gateway and the runner need of floors that they may not
//! name. The roof plugs the floors together.

use std::future::Future;
use std::pin::Pin;

pub mod actions;
pub mod databases;
pub mod handlers;
pub mod journal;

/// What a port's method answers with, later.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
