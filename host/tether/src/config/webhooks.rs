//! Who is told: the `webhooks` section.

use super::ConfigError;
use super::secrets::Vault;
use super::section::Section;

/// One of `webhooks`; there can be none yet.
#[derive(Debug, Clone)]
pub struct Webhook;

/// Reads them; addresses and keys may hold secrets of `vault`.
pub(super) fn read(_root: &mut Section<'_>, _vault: &mut Vault<'_>) -> Result<Vec<Webhook>, ConfigError> {
    Ok(Vec::new())
}
