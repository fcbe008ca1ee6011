//! `tether build`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::say;

/// Build a Rust project to a component, and print its path
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Build {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Print the paths as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Example:
  tether build examples/tickets";

impl Build {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self.folder;
        let building = tokio::task::spawn_blocking(move || {
            tether_build::build(&folder, &mut |line| eprintln!("{line}"))
        });
        let components = building.await??;
        let paths: Vec<_> = components.iter().map(|path| path.display().to_string()).collect();
        if self.json {
            say(serde_json::json!({ "components": paths }).to_string());
        } else {
            paths.iter().for_each(say);
        }
        Ok(ExitCode::SUCCESS)
    }
}
