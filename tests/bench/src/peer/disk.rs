//! What the disk takes for one durable step.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Appends blocks to a file, one at a time.
pub(crate) struct Disk(std::fs::File);

impl Disk {
    /// With a new file in `folder`.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self(OpenOptions::new().create(true).append(true).open(folder.join("blocks"))?))
    }

    /// Appends 4 KiB; how long the `fdatasync` afterwards takes.
    pub(crate) fn sync(&mut self) -> anyhow::Result<Duration> {
        self.0.write_all(&[1; 4096])?;
        let begin = Instant::now();
        self.0.sync_data()?;
        Ok(begin.elapsed())
    }
}
