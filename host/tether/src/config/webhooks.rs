//! Whom notices go to.

use std::collections::BTreeSet;

use tether_core::id::TenantId;
use tether_transport::errand::{Address, Reach};

use super::ConfigError;
use super::secrets::Vault;
use super::section::{Found, Section};
pub use crate::webhooks::Webhook;
use crate::webhooks::{Format, Kind, SigningKey};

/// The `webhooks` of a configuration.
pub(super) fn read(root: &mut Section<'_>, vault: &mut Vault<'_>) -> Result<Vec<Webhook>, ConfigError> {
    let mut webhooks = Vec::new();
    let mut names = BTreeSet::new();
    for section in root.list("webhooks")? {
        let webhook = webhook(section, vault)?;
        if !names.insert(webhook.name.clone()) {
            return Err(ConfigError::new(format!(
                "two webhooks are named `{}`; give one another `name`",
                webhook.name
            )));
        }
        webhooks.push(webhook);
    }
    Ok(webhooks)
}

fn webhook(mut section: Section<'_>, vault: &mut Vault<'_>) -> Result<Webhook, ConfigError> {
    let missing = |key: &str, what: &str| ConfigError::new(format!("{key} is missing: {what}"));
    let places = ["name", "url", "secret"].map(|key| section.place_of(key));
    let name = section.parsed("name", name)?;
    let address = secret(section.take("url"), vault, |url| {
        Address::parse(url, Reach::Operators).map_err(|error| error.to_string())
    })?;
    let kinds = section.parsed_list("events", kind)?;
    let format = section.parsed("body", format)?.unwrap_or(Format::Tether);
    let key = secret(section.take("secret"), vault, |text| {
        text.parse::<SigningKey>().map_err(|error| error.to_string())
    })?;
    let tenant =
        section.parsed("tenant", |text| text.parse::<TenantId>().map_err(|error| error.to_string()))?;
    let no_kinds = section.place_of("events");
    section.finish()?;

    let name = name.ok_or_else(|| missing(&places[0], "what it is called in the log"))?;
    let address = address
        .ok_or_else(|| missing(&places[1], "where notices go, such as \"https://example.com/hook\""))?;
    if key.is_none() && format == Format::Tether {
        return Err(missing(
            &places[2],
            "by it the receiver knows that a notice is yours; write `whsec_` and 32 random bytes in base64",
        ));
    }
    let kinds = kinds.map_or_else(|| BTreeSet::from(Kind::ALL), BTreeSet::from_iter);
    if kinds.is_empty() {
        return Err(ConfigError::new(format!(
            "{no_kinds} is empty: such a webhook is told nothing; leave it out"
        )));
    }
    Ok(Webhook { name, address, kinds, format, key, tenant })
}

/// A value in which `${NAME}` stands for a secret. No error shows it.
fn secret<T>(
    found: Option<Found>,
    vault: &mut Vault<'_>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ConfigError> {
    let Some(found) = found else { return Ok(None) };
    let parsed = found.value.as_str().ok_or_else(|| "it must be a text".to_owned());
    let parsed = parsed.and_then(|text| parse(&vault.filled(text)?));
    parsed.map(Some).map_err(|message| found.refused(message))
}

fn name(text: &str) -> Result<String, String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(letter);
    fits.then(|| text.to_owned())
        .ok_or_else(|| "it must be 1 to 64 letters, digits, `-`, `_` or `.`".to_owned())
}

fn kind(text: &str) -> Result<Kind, String> {
    let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
    known.ok_or_else(|| "it must be \"proposed\", \"decided\" or \"done\"".to_owned())
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "tether" => Ok(Format::Tether),
        "slack" => Ok(Format::Slack),
        _ => Err("it must be \"tether\" or \"slack\"".to_owned()),
    }
}
