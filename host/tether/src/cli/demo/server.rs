//! The server of the demo: a process of its own, so that it can really be killed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tether_transport::client::Client;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Longer than any step of the story takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Server {
    components: Vec<PathBuf>,
    data_dir: PathBuf,
    child: Child,
    url: String,
    token: String,
    client: Client,
}

impl Server {
    /// Starts this very program as a server, and waits until it is ready.
    pub(super) async fn start(components: &[PathBuf], data_dir: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .args(components)
            .args(["--listen", "127.0.0.1:0", "--json", "--data-dir"])
            .arg(data_dir)
            .env("TETHER_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("the server cannot be started")?;
        let output = child.stdout.take().context("the server has no standard output")?;
        let Some(ready) = BufReader::new(output).lines().next_line().await? else {
            bail!("the server ended before it was ready: {}", child.wait().await?);
        };
        let ready: Value = serde_json::from_str(&ready).context("the server said something else")?;
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        let (url, token) = (text("url"), text("token"));
        let client = Client::new(&url, Some(&token), PATIENCE)?;
        let (components, data_dir) = (components.to_vec(), data_dir.to_owned());
        Ok(Self { components, data_dir, child, url, token, client })
    }

    /// `kill -9`: the process gets no chance to finish anything.
    pub(super) async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.start_kill()?;
        let status = self.child.wait().await?;
        ensure!(!status.success(), "the server ended by itself");
        Ok(())
    }

    /// Starts it again on the same data, and waits until it is ready.
    pub(super) async fn start_again(&mut self) -> anyhow::Result<()> {
        *self = Self::start(&self.components, &self.data_dir).await?;
        Ok(())
    }

    /// Stops it in order.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(pid) = self.child.id() {
            Command::new("kill").arg(pid.to_string()).status().await?;
            self.child.wait().await?;
        }
        Ok(())
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// A command to look at the tools by hand.
    pub(super) fn curl(&self) -> String {
        format!("curl -H 'Authorization: Bearer {}' {}/v1/tools", self.token, self.url)
    }
}
