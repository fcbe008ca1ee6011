//! `tether demo`: the whole story on real components, each request and answer
//! printed, and each promise checked.

mod server;
mod stage;
mod story;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use self::server::Server;
use self::stage::Stage;
use super::say;
use crate::scratch::Scratch;

/// Build the example components, serve them, and see the promise kept
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Demo {
    /// Exit afterwards, with code 1 if anything was not as promised
    #[arg(long)]
    once: bool,

    /// The folder with the example components [default: `examples` here or above]
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,

    /// Print each step as one line of JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Examples:
  tether demo          walks through the story, then serves until Ctrl-C
  tether demo --once   exits afterwards";

impl Demo {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let examples = match &self.examples {
            Some(folder) => folder.clone(),
            None => find_examples(&std::env::current_dir()?)?,
        };
        let components = build(&examples).await?;
        let scratch = Scratch::new().context("there is no place for the demo's data")?;
        let mut server = Server::start(&components, scratch.path()).await?;

        let mut stage = Stage::new(self.json);
        let told = story::tell(&mut stage, &mut server).await;
        stage.close();
        told?;
        if stage.failures() > 0 {
            return Ok(ExitCode::FAILURE);
        }
        if !self.once {
            say(format!("\nIt goes on serving until Ctrl-C:\n\n  {}\n", server.curl()));
            tokio::signal::ctrl_c().await?;
        }
        server.stop().await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The folder `examples` of a checkout, seen from `here` or a folder within it.
fn find_examples(here: &Path) -> anyhow::Result<PathBuf> {
    let holds = |folder: &&Path| folder.join("examples/mishaps/Cargo.toml").is_file();
    match here.ancestors().find(holds) {
        Some(checkout) => Ok(checkout.join("examples")),
        None => bail!(
            "the example components are not here; run it in a checkout of Tether, or name their folder with --examples"
        ),
    }
}

/// Builds the components that the story needs.
async fn build(examples: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = examples.to_owned();
    let built =
        tokio::task::spawn_blocking(move || tether_build::build(&folder, &mut |line| eprintln!("{line} …")));
    let built = built.await??;
    ["tickets.wasm", "mishaps.wasm"]
        .iter()
        .map(|name| {
            let found = built.iter().find(|path| path.file_name().is_some_and(|file| file == *name));
            found.cloned().with_context(|| format!("{} has no component {name}", examples.display()))
        })
        .collect()
}
