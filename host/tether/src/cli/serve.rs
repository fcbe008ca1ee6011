//! `tether serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::say;
use crate::app::App;
use crate::config::{Config, Flags};
use crate::telemetry::{self, LogFormat};

/// Serve the tools of components over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Serve {
    /// Components to serve, besides those of the configuration
    #[arg(value_name = "COMPONENT.wasm")]
    components: Vec<PathBuf>,

    /// The configuration: TOML, or JSON if its name ends in .json
    #[arg(long, value_name = "FILE", env = "TETHER_CONFIG")]
    config: Option<PathBuf>,

    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8484]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,

    /// The folder that holds everything Tether keeps [default: tether-data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// How the log on standard error is written; TETHER_LOG says how much
    #[arg(long, value_enum, default_value_t)]
    log_format: LogFormat,

    /// Print where it listens, and the token, as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLE: &str = "\
Examples:
  tether serve tickets.wasm
  tether serve --config tether.toml --listen 127.0.0.1:0
  TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS=5 tether serve tickets.wasm";

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        // From here on a signal is an orderly stop.
        let mut signals = Signals::new()?;

        let flags = Flags { listen: self.listen, data_dir: self.data_dir, components: self.components };
        let config = Config::load(self.config.as_deref(), environment(), flags)?;
        telemetry::start(self.log_format)?;

        let inbox = config.inbox.url.as_ref().map(ToString::to_string);
        let app = tokio::select! {
            app = App::start(config) => app?,
            () = signals.next() => return Ok(ExitCode::SUCCESS),
        };
        announce(&app, inbox, self.json);
        signals.next().await;

        tracing::info!("stopping: requests and executing writes end first; a second signal ends at once");
        tokio::select! {
            () = app.stop() => Ok(ExitCode::SUCCESS),
            () = signals.next() => Ok(ExitCode::FAILURE),
        }
    }
}

/// What asks a process to end.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The variables of this process that are text; others are not ours.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn announce(app: &App, inbox: Option<String>, json: bool) {
    let (url, token) = (format!("http://{}", app.address()), app.token());
    if json {
        say(serde_json::json!({ "url": url, "token": token }).to_string());
    } else {
        say(format!("listening on {url}"));
        say(format!("people decide at {}/inbox", inbox.as_deref().unwrap_or(&url)));
        if let Some(token) = token {
            say(format!("curl -H 'Authorization: Bearer {token}' {url}/v1/tools"));
        }
    }
}
