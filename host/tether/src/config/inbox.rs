//! The `inbox` section: what browsers call it, and how long a person stays signed in.

use std::net::SocketAddr;
use std::time::Duration;

use super::ConfigError;
use super::section::Section;
use crate::http::Origin;

/// The `inbox` section.
#[derive(Debug, Clone)]
pub struct Inbox {
    /// What browsers call it; none: whatever leads to where the host listens.
    pub url: Option<Origin>,
    /// How long a session lasts at most.
    pub session: Duration,
}

impl Default for Inbox {
    /// Eight hours, and no name.
    fn default() -> Self {
        Self { url: None, session: Duration::from_secs(8 * 3600) }
    }
}

impl Inbox {
    /// Where people find it, of a host that listens at `listen`.
    pub fn at(&self, listen: SocketAddr) -> String {
        self.url.as_ref().map_or_else(|| format!("http://{listen}"), ToString::to_string)
    }
}

/// Reads it, and adds the variables of the environment that can set it.
pub(super) fn read(root: &mut Section<'_>, variables: &mut Vec<String>) -> Result<Inbox, ConfigError> {
    const SHORTEST: Duration = Duration::from_secs(5 * 60);
    const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
    let mut section = root.section("inbox")?;
    let inbox = Inbox {
        url: section.parsed("url", str::parse)?,
        session: section.duration("session", SHORTEST..=LONGEST, Inbox::default().session)?,
    };
    variables.extend(section.finish()?);
    Ok(inbox)
}
