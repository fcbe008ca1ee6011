//! The bench that the tests stand on.

mod answer;
mod api;
mod compiled;
mod components;
mod crowd;
mod effects;
mod folder;
mod language;
mod log;
mod missing;
mod node;
mod process;
mod server;
mod setup;
mod upstream;
mod venv;

pub(crate) use answer::Answer;
pub(crate) use api::{Api, Request};
pub(crate) use compiled::{collect, lend};
pub(crate) use components::component;
pub(crate) use crowd::{crowd, eventually};
pub(crate) use effects::{Effect, effects, open_read_only};
pub(crate) use folder::Folder;
pub(crate) use language::Language;
pub(crate) use log::{Log, PATIENCE};
pub(crate) use missing::{or_skipped, run};
pub(crate) use node::{NodeProject, NodeServer};
pub(crate) use process::{Ran, command, tether};
pub(crate) use server::Server;
pub(crate) use setup::Setup;
pub(crate) use upstream::{Received, Reply, Upstream};
pub(crate) use venv::python_packages;
