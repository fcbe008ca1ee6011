//! What a component says of itself, as `tether inspect --json` prints it.

use serde::Serialize;
use tether_runner::Loaded;

use super::tool::Tool;

/// A component.
#[derive(Debug, Serialize)]
pub struct Manifest {
    /// Its name.
    pub name: String,
    /// The digest of its bytes.
    pub digest: String,
    /// Its tools, by name.
    pub tools: Vec<Tool>,
    /// Its migrations, in the order in which they are applied.
    pub migrations: Vec<Migration>,
    /// The interfaces that it asks of the host.
    pub imports: Vec<String>,
}

/// One step of a database's schema.
#[derive(Debug, Serialize)]
pub struct Migration {
    /// The database.
    pub database: String,
    /// Its name within the component.
    pub id: String,
    /// Its SQL text.
    pub sql: String,
}

impl From<&Loaded> for Manifest {
    fn from(loaded: &Loaded) -> Self {
        let Loaded { name, digest, manifest, imports } = loaded;
        let migrations = manifest.migrations.iter().map(|migration| Migration {
            database: migration.database.to_string(),
            id: migration.id.clone(),
            sql: migration.sql.clone(),
        });
        Self {
            name: name.to_string(),
            digest: digest.to_string(),
            tools: manifest.tools.iter().map(|tool| Tool::of(tool, name, digest)).collect(),
            migrations: migrations.collect(),
            imports: imports.to_vec(),
        }
    }
}
