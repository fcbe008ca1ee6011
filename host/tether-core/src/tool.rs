//! What a component offers.

use std::sync::Arc;

use crate::digest::Digest;
use crate::grant::Binding;
use crate::id::{DatabaseName, ToolName};
use crate::json::JsonText;
use crate::schema::Schema;

/// What a call of a tool may do to the outside world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Changes nothing; may be run again at any time.
    Read,
    /// Changes something; held until a person confirms it.
    Write,
}

/// One tool, as its component describes it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Unique within the host.
    pub name: ToolName,
    /// A short name for people.
    pub title: Option<String>,
    /// What the tool does, for the model that chooses it.
    pub description: String,
    /// Whether it reads or writes.
    pub effect: ToolEffect,
    /// JSON Schema of the arguments.
    pub input_schema: JsonText,
    /// JSON Schema of the output, where the tool promises one.
    pub output_schema: Option<JsonText>,
}

/// One step of a database's schema, applied once per database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The database that it changes.
    pub database: DatabaseName,
    /// Its name within the component, 1 to 128 characters.
    pub id: String,
    /// One or more SQL statements.
    pub sql: String,
}

impl Migration {
    /// The digest of its SQL text: a migration is known by id and digest.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.sql)
    }
}

/// What a component says of itself when it is loaded.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Its tools.
    pub tools: Vec<Tool>,
    /// Its migrations, in the order in which they are applied.
    pub migrations: Vec<Migration>,
}

/// A tool that can be called: described, bound, its schemas compiled.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The tool.
    pub tool: Tool,
    /// The handler behind it, with what it may touch.
    pub binding: Binding,
    /// The compiled input schema.
    pub input: Arc<Schema>,
}
