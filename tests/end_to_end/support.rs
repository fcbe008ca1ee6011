//! The bench that the tests stand on.

mod answer;
mod api;
mod compiled;
mod components;
mod crowd;
mod effects;
mod folder;
mod log;
mod process;
mod server;
mod setup;

pub use answer::Answer;
pub use api::{Api, Request};
pub use components::component;
pub use crowd::{crowd, eventually};
pub use effects::{Effect, effects, open_read_only};
pub use folder::Folder;
pub use process::{Ran, tether};
pub use server::Server;
pub use setup::Setup;
