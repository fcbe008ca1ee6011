//! The `inbox` section.

use super::ConfigError;
use super::section::Section;

/// The `inbox` section; nothing of it can be set yet.
#[derive(Debug, Clone, Default)]
pub struct Inbox;

/// Reads it, and adds the variables of the environment that can set it.
pub(super) fn read(_root: &mut Section<'_>, _variables: &mut Vec<String>) -> Result<Inbox, ConfigError> {
    Ok(Inbox)
}
