//! The real server, as it is shipped: a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::load;
use crate::stage::Stage;

/// How a server is started.
pub(crate) struct Setup<'a> {
    stage: &'a Stage,
    components: Vec<&'a Path>,
    data: PathBuf,
    environment: Vec<(&'static str, &'static str)>,
}

/// A server that is ready. It is killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) api: Api,
    /// Its data folder.
    pub(crate) data: PathBuf,
    /// From its start until it said that it is ready.
    pub(crate) start: Duration,
}

/// The requests of its API.
#[derive(Clone)]
pub(crate) struct Api {
    token: Rc<str>,
}

/// What it prints once it is ready.
#[derive(Deserialize)]
struct Ready {
    url: String,
    token: String,
}

impl<'a> Setup<'a> {
    /// A server with the default configuration that serves these components.
    pub(crate) fn new(stage: &'a Stage, components: &[&'a Path], data: PathBuf) -> Self {
        Self { stage, components: components.to_vec(), data, environment: Vec::new() }
    }

    /// With a setting that is not the default.
    pub(crate) fn setting(mut self, variable: &'static str, value: &'static str) -> Self {
        self.environment.push((variable, value));
        self
    }

    /// Starts it, and waits until it is ready.
    pub(crate) fn start(self) -> anyhow::Result<Server> {
        let mut command = Command::new(self.stage.tether());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TETHER_") {
                command.env_remove(name);
            }
        }
        command.arg("serve").args(&self.components);
        command.args(["--json", "--listen", "127.0.0.1:0", "--data-dir"]).arg(&self.data);
        command.envs(self.environment);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let begin = Instant::now();
        let mut child = command.spawn().context("the server cannot be started")?;
        let output = child.stdout.take().context("its standard output is ours")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let start = begin.elapsed();
        let ready: Ready = serde_json::from_str(&line).context("the server did not become ready")?;
        let address = ready.url.trim_start_matches("http://").parse()?;
        let api = Api { token: ready.token.into() };
        Ok(Server { child, address, api, data: self.data, start })
    }
}

impl Api {
    /// The request that calls a read, or proposes a write.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Vec<u8> {
        self.post(&format!("/v1/tools/{tool}/calls"), &format!("{{\"args\":{arguments}}}"))
    }

    /// The request that confirms an action, as the command line does it.
    pub(crate) fn confirm(&self, action: &str) -> Vec<u8> {
        self.post(&format!("/v1/actions/{action}/confirm"), r#"{"attemptsUsed":0}"#)
    }

    fn post(&self, path: &str, body: &str) -> Vec<u8> {
        load::post(path, &[("authorization", &format!("Bearer {}", self.token))], body)
    }
}

impl Server {
    /// Stops it in order, so that its files are whole; the data folder.
    pub(crate) fn stop(mut self) -> anyhow::Result<PathBuf> {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status()?;
        ensure!(asked.success(), "it was there to be asked");
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(self.data.clone())
    }

    /// Its process, for whoever watches it.
    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }
}

/// A running process, by its number.
#[derive(Clone, Copy)]
pub(crate) struct Process(u32);

impl Process {
    /// MiB of memory that it holds, as the line `which` of a file of the kernel says:
    /// resident now (`VmRSS`) or at most so far (`VmHWM`, both in `status`), or what of
    /// that is there once, however often it is mapped (`Pss`, in `smaps_rollup`).
    pub(crate) fn memory(self, file: &str, which: &str) -> anyhow::Result<f64> {
        let path = format!("/proc/{}/{file}", self.0);
        let told = fs::read_to_string(&path).with_context(|| format!("there is no {path}"))?;
        let line = told.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")).context("it tells no such number")?;
        Ok(kib.trim().parse::<f64>()? / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
