//! Express with better-sqlite3, where there is Node.js.

use std::path::Path;

use anyhow::Context;

use super::Peer;
use crate::node::NodeProject;
use crate::stage::Stage;

/// Starts Express over a database. None where Node.js is missing.
pub(crate) fn start(stage: &Stage, database: &Path) -> anyhow::Result<Option<Peer>> {
    let Some(project) = NodeProject::install(stage, "tests/bench/express")? else { return Ok(None) };
    Peer::start(project.node("server.js").arg(database)).context("Express does not start").map(Some)
}
