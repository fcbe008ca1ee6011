//! `tether inspect`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tether_core::grant::{DatabaseGrant, Grants};
use tether_core::id::DatabaseName;
use tether_core::port::databases::SqlLimits;
use tether_core::tool::ToolEffect;
use tether_runner::{LoadRequest, Loaded, Runner, Settings, Source};
use tether_store::SqliteDatabases;
use tether_transport::outbound::{self, Outbound, Secrets};

use super::say;
use crate::clock::SystemClock;
use crate::config;
use crate::progress::slow;
use crate::scratch::Scratch;
use crate::wire;
use tether_core::plain::shown;

/// Tell what a component offers, and what it asks of the host
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Inspect {
    /// The component
    #[arg(value_name = "COMPONENT.wasm")]
    component: PathBuf,

    /// The databases that it may have
    #[arg(long = "database", value_name = "NAME", default_value = "main")]
    databases: Vec<DatabaseName>,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  tether inspect tickets.wasm";

impl Inspect {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let name = config::name_of(&self.component)?;
        let own = self.databases.into_iter().map(|name| (name, DatabaseGrant::Own));
        let grants = Grants { databases: own.collect::<BTreeMap<_, _>>(), destinations: Vec::new() };

        // Nothing of a running gateway is touched: it may be using its folder.
        let folder = Scratch::new()?;
        let databases = Arc::new(SqliteDatabases::new(folder.path(), SqlLimits::default()));
        let settings = Settings { max_instances: 1, ..Settings::new(folder.path()) };
        // Nothing is granted, and nothing is sent.
        let nothing = outbound::Settings {
            max_answer_bytes: 0,
            max_request_bytes: 0,
            max_requests: 0,
            extra_roots: Vec::new(),
            secrets: Secrets::default(),
        };
        let outbound = Outbound::new(nothing, Arc::new(SystemClock::new()))?;
        let runner = Runner::new(settings, databases, outbound)?;
        let doing = format!("compiling {}", self.component.display());
        let source = Source::Path(self.component);
        let loaded = slow(&doing, runner.load(LoadRequest { name, source, grants })).await?;
        say(if self.json {
            serde_json::to_string(&wire::Manifest::from(&loaded))?
        } else {
            in_words(&loaded)
        });
        Ok(ExitCode::SUCCESS)
    }
}

fn in_words(loaded: &Loaded) -> String {
    let mut out = format!("{}  {}\n", loaded.name, loaded.digest);
    for tool in &loaded.manifest.tools {
        let effect = match tool.effect {
            ToolEffect::Read => "read: runs at once",
            ToolEffect::Write => "write: waits for a person",
        };
        let _ = write!(out, "\n{}  ({effect})\n  {}\n", tool.name, shown(&tool.description));
        let _ = writeln!(out, "  arguments  {}", shown(tool.input_schema.as_str()));
        if let Some(schema) = &tool.output_schema {
            let _ = writeln!(out, "  result     {}", shown(schema.as_str()));
        }
    }
    if !loaded.manifest.migrations.is_empty() {
        out.push_str("\nmigrations, in order\n");
    }
    for migration in &loaded.manifest.migrations {
        let _ = writeln!(out, "  `{}` of the database `{}`", shown(&migration.id), migration.database);
    }
    out.push_str("\nasks of the host\n");
    for import in &*loaded.imports {
        let _ = writeln!(out, "  {}{}", shown(import), grant_of(import));
    }
    out.trim_end().to_owned()
}

/// What an interface is good for only where the operator grants it.
fn grant_of(import: &str) -> &'static str {
    match import.split('@').next() {
        Some("tether:tool/database") => "  (the databases of `[components.databases]`)",
        Some("tether:tool/transport" | "wasi:http/outgoing-handler") => {
            "  (the destinations of `[[components.outbound]]`)"
        }
        _ => "",
    }
}
