//! The events of a data folder, for whoever keeps or checks them elsewhere.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use tether_core::identity::Channel;
use tether_core::port::announcements::Announced;
use tether_store::Chained;

use crate::wire::Moment;

/// One line of an export: an event with everything that its hash covers. Numbers that
/// would tell of other tenants are not in it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportedEvent<'a> {
    tenant: &'a str,
    place: u64,
    action_id: String,
    revision: u64,
    at: Moment,
    actor: Option<&'a str>,
    channel: Option<&'static str>,
    from: Option<&'static str>,
    to: &'static str,
    attempt: u32,
    detail: &'a str,
    proposal: String,
    state: String,
    confirm_key: Option<String>,
    hash: String,
}

/// Where events are written to.
pub(super) struct Export(Box<dyn Write>);

impl Export {
    /// Makes the file at `path`, for its owner only; `-` is standard output.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self(Box::new(BufWriter::new(io::stdout()))));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self(Box::new(BufWriter::new(file))))
    }

    /// Writes one line.
    pub(super) fn add(&mut self, chained: &Chained) -> anyhow::Result<()> {
        let Announced { tenant, place, hash, action, revision, event, .. } = &chained.announced;
        let line = ExportedEvent {
            tenant: tenant.as_str(),
            place: *place,
            action_id: action.to_string(),
            revision: revision.0,
            at: event.at.into(),
            actor: event.actor.as_ref().map(|actor| actor.user.as_str()),
            channel: event.actor.as_ref().and_then(|actor| actor.channel).map(Channel::as_str),
            from: event.from.map(|status| status.as_str()),
            to: event.to.as_str(),
            attempt: event.attempt,
            detail: &event.detail,
            proposal: chained.proposal.to_string(),
            state: chained.state.to_string(),
            confirm_key: chained.confirm_key.map(|key| key.to_string()),
            hash: hash.to_string(),
        };
        serde_json::to_writer(&mut self.0, &line).context("the export cannot be written")?;
        self.0.write_all(b"\n").context("the export cannot be written")
    }

    /// Everything is written.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.0.flush().context("the export cannot be written")
    }
}
