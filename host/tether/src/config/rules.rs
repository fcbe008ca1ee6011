//! Who decides about which tool: keys of `actions`, and `rules`.

use std::time::Duration;

use tether_core::rule::{Rule, Rules};

use super::ConfigError;
use super::section::Section;

/// Reads `rules`; what they leave out is as in `default`, which is of `actions`.
pub(super) fn read(_root: &mut Section<'_>, default: Rule) -> Result<Rules, ConfigError> {
    Ok(Rules { default, ..Rules::default() })
}

/// Reads the keys of a rule out of `section`; what it leaves out is as in `default`.
pub(super) fn rule(section: &mut Section<'_>, default: &Rule) -> Result<Rule, ConfigError> {
    const SECOND: Duration = Duration::from_secs(1);
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    let expires_after = section.duration("expires_after", SECOND..=YEAR, default.expires_after)?;
    Ok(Rule { expires_after, ..default.clone() })
}
