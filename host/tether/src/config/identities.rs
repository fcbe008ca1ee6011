//! Who may come in: the `identities` section.

use super::ConfigError;
use super::section::Section;

/// The `identities` section; nothing of it can be set yet.
#[derive(Debug, Clone, Default)]
pub struct Identities;

/// Reads it, and adds the variables of the environment that can set it.
pub(super) fn read(_root: &mut Section<'_>, _variables: &mut Vec<String>) -> Result<Identities, ConfigError> {
    Ok(Identities)
}
