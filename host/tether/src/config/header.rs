//! Headers that the host adds to requests as they leave.

use std::collections::BTreeMap;

use axum::http::HeaderName;
use tether_transport::outbound::reserved;

use super::ConfigError;
use super::secrets::Vault;
use super::section::Section;

/// The `headers` of a section: lower-case names, and values in which `${NAME}`
/// still stands for a secret.
pub(super) fn headers(
    section: &mut Section<'_>,
    vault: &mut Vault<'_>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut headers = BTreeMap::new();
    for (text, found) in section.names("headers")?.unwrap_or_default() {
        let name = name(&text).map_err(|message| found.refused(message))?;
        let value = found.value.as_str().ok_or_else(|| found.refused("it must be a text"))?;
        let value = vault.learn(value).map_err(|message| found.refused(message))?;
        if headers.insert(name, value).is_some() {
            return Err(found.refused("this header is written twice, in capitals and in small letters"));
        }
    }
    Ok(headers)
}

/// The `key_header` of a section, in lower case.
pub(super) fn key_header(
    section: &mut Section<'_>,
    headers: &BTreeMap<String, String>,
) -> Result<Option<String>, ConfigError> {
    section.parsed("key_header", |text| {
        let name = name(text)?;
        if headers.contains_key(&name) {
            return Err("it is among `headers` as well; it carries the key of the call there".to_owned());
        }
        Ok(name)
    })
}

/// A header's name in lower case; the error says why it cannot be one.
fn name(text: &str) -> Result<String, String> {
    let name = HeaderName::from_bytes(text.as_bytes())
        .map_err(|_| format!("{text:?} cannot be the name of a header; write it like \"X-Api-Key\""))?;
    let name = name.as_str();
    if let Some(reason) = reserved(name) {
        return Err(reason);
    }
    Ok(name.to_owned())
}
