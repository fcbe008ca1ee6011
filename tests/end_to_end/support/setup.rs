//! How a server is started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::Log;
use super::process::{Ran, command};
use super::{Folder, Server, component};

/// How a server is started; the same at every restart, but for the fault.
pub(crate) struct Setup {
    folder: Folder,
    components: Vec<PathBuf>,
    config: Option<PathBuf>,
    pub(super) listen: String,
    data: PathBuf,
    environment: Vec<(&'static str, String)>,
    pub(super) fault: Option<&'static str>,
}

impl Setup {
    /// Serves these components, such as `tickets`.
    pub(crate) fn of(components: &[&str]) -> Self {
        let folder = Folder::new();
        Self {
            data: folder.path().join("data"),
            folder,
            components: components.iter().map(|name| component(name).to_owned()).collect(),
            config: None,
            listen: "127.0.0.1:0".into(),
            environment: Vec::new(),
            fault: None,
        }
    }

    /// With a variable in its environment.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// With a configuration: a file of this name, with this text.
    pub(crate) fn config(mut self, name: &str, text: &str) -> Self {
        self.config = Some(self.folder.file(name, text));
        self
    }

    /// With this file besides.
    pub(crate) fn serving(mut self, path: impl Into<PathBuf>) -> Self {
        self.components.push(path.into());
        self
    }

    /// At this address.
    pub(crate) fn listen(mut self, address: impl ToString) -> Self {
        self.listen = address.to_string();
        self
    }

    /// In this data folder.
    pub(crate) fn data_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.data = path.into();
        self
    }

    /// Halts at this point, in its first life.
    pub(crate) fn fault(mut self, point: &'static str) -> Self {
        self.fault = Some(point);
        self
    }

    /// The folder of the test.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The command that serves.
    pub(crate) fn command(&self) -> Command {
        let mut command = command();
        command.arg("serve").args(&self.components);
        command.args(["--json", "--listen", &self.listen, "--data-dir"]).arg(&self.data);
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(self.fault.map(|point| ("TETHER_FAULT", point)));
        command
    }

    /// Starts it, and waits until it is ready.
    pub(crate) fn start(self) -> Server {
        Server::start(self)
    }

    /// Starts it where it must refuse to start; what it said.
    pub(crate) fn refused(&self) -> Ran {
        let spawned = self.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.expect("tether can be started");
        let log = Log::of(child.stderr.take().expect("its standard error is ours"));
        let stderr = log.whole();
        // One that serves after all is ended, and has no exit code.
        let _ = child.kill();
        let status = child.wait().expect("it can be waited for");
        Ran { code: status.code().unwrap_or(-1), stdout: String::new(), stderr }
    }
}
