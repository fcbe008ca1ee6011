//! A configuration file as a tree of values.

use std::path::Path;

use serde_json::{Map, Value};
use tether_core::json::JsonText;

use super::ConfigError;

/// Reads `path`: JSON where its name ends in `.json`, else TOML.
pub(super) fn read(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::NotFound => "; check the path after --config",
            _ => "",
        };
        ConfigError(format!("cannot read the configuration {}: {error}{advice}", path.display()))
    })?;
    let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let values = if json { from_json(text) } else { from_toml(&text) };
    values.map_err(|message| ConfigError(format!("{}: {message}", path.display())))
}

fn from_toml(text: &str) -> Result<Map<String, Value>, String> {
    // The message shows the line.
    toml::from_str(text).map_err(|error| error.to_string())
}

fn from_json(text: String) -> Result<Map<String, Value>, String> {
    match JsonText::parse(text).map_err(|error| error.to_string())?.to_value() {
        Value::Object(values) => Ok(values),
        _ => Err("a configuration is a JSON object".to_owned()),
    }
}
