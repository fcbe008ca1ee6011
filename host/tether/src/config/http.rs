//! What stands between clients and the gateway.

use tether_core::destination::Network;

use super::ConfigError;
use super::section::Section;
use crate::identity::Proxies;

/// The `http` section.
pub(super) fn read(root: &mut Section<'_>, variables: &mut Vec<String>) -> Result<Proxies, ConfigError> {
    let mut section = root.section("http")?;
    let proxies = section.parsed_list("trusted_proxies", |text| text.parse::<Network>())?;
    variables.extend(section.finish()?);
    Ok(Proxies::new(proxies.unwrap_or_default()))
}
