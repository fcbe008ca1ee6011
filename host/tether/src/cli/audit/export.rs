//! The events of a data folder, for whoever keeps or checks them elsewhere.

mod draft;

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use tether_core::identity::Channel;
use tether_core::port::announcements::Announced;
use tether_store::Chained;

use self::draft::Draft;
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
pub(super) struct Export {
    to: BufWriter<Box<dyn Write>>,
    /// None where no file is made.
    draft: Option<Draft>,
}

impl Export {
    /// Begins a file for `path`, for its owner only, which is there when it is
    /// [finished](Self::finish): what was exported earlier may be the only witness of it.
    /// What is there and is no file, such as a pipe, is written to; `-` is standard output.
    ///
    /// # Errors
    ///
    /// The file would be in `data_folder`, or cannot be written.
    pub(super) fn begin(path: &Path, data_folder: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("{} cannot be written", path.display());
        if path.as_os_str() == "-" {
            return Ok(Self { to: BufWriter::new(Box::new(io::stdout())), draft: None });
        }
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let stream = OpenOptions::new().write(true).open(path).with_context(cannot)?;
            return Ok(Self { to: BufWriter::new(Box::new(stream)), draft: None });
        }
        let target = draft::target(path).with_context(cannot)?;
        anyhow::ensure!(
            !target.starts_with(data_folder),
            "{} is in the data folder, where nothing is exported to: --export names a file elsewhere",
            path.display()
        );
        let draft = Draft::begin(target).with_context(cannot)?;
        Ok(Self { to: BufWriter::new(Box::new(draft.file())), draft: Some(draft) })
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
        serde_json::to_writer(&mut self.to, &line).context("the export cannot be written")?;
        self.to.write_all(b"\n").context("the export cannot be written")
    }

    /// Everything is written: the file is whole, on the disk, and takes the place of what was
    /// there.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let cannot = "the export cannot be written";
        self.to.flush().context(cannot)?;
        self.draft.map_or(Ok(()), Draft::keep).context(cannot)
    }
}
