//! The `mcp` section: whose pages may call, and what sessions may take.

use std::time::Duration;

use super::ConfigError;
use super::section::Section;
use crate::http::Origin;

/// The `mcp` section.
#[derive(Debug, Clone)]
pub struct Mcp {
    /// The pages that may call from a browser, besides the host's own.
    pub origins: Vec<Origin>,
    /// How long a session of the older revisions lasts without a request.
    pub session: Duration,
    /// Sessions that are open at the same time; the one that was unused for longest makes
    /// room.
    pub max_sessions: usize,
    /// Tools on a page of the list.
    pub page_size: usize,
}

impl Default for Mcp {
    /// No pages, an hour, 4,096 sessions, 500 tools.
    fn default() -> Self {
        Self { origins: Vec::new(), session: Duration::from_secs(3600), max_sessions: 4_096, page_size: 500 }
    }
}

/// Reads it, and adds the variables of the environment that can set it.
pub(super) fn read(root: &mut Section<'_>, variables: &mut Vec<String>) -> Result<Mcp, ConfigError> {
    const MINUTE: Duration = Duration::from_secs(60);
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let default = Mcp::default();
    let mut section = root.section("mcp")?;
    let mcp = Mcp {
        origins: section.parsed_list("origins", str::parse::<Origin>)?.unwrap_or_default(),
        session: section.duration("session", MINUTE..=DAY, default.session)?,
        max_sessions: section.number("max_sessions", 1..=65_536, 4_096)? as usize,
        page_size: section.number("page_size", 1..=10_000, 500)? as usize,
    };
    variables.extend(section.finish()?);
    Ok(mcp)
}
