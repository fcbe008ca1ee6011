//! The log: to standard error, never with arguments, results, headers or tokens.

use std::io::{self, IsTerminal};

use tracing::{Level, Metadata};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::config::ConfigError;

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// The environment variable with the filter, such as `debug` or
/// `tether_gateway=trace,info`.
pub const VARIABLE: &str = "TETHER_LOG";

/// Starts the log of this process.
///
/// # Errors
///
/// When `TETHER_LOG` is no filter.
pub fn start(format: LogFormat) -> Result<(), ConfigError> {
    let wanted = std::env::var(VARIABLE).ok().filter(|filter| !filter.is_empty());
    let filter = filter(wanted.as_deref().unwrap_or("info"))?;
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(lines.with_filter(filter_fn(discreet))).init();
    Ok(())
}

fn filter(wanted: &str) -> Result<EnvFilter, ConfigError> {
    EnvFilter::try_new(wanted).map_err(|error| {
        ConfigError::new(format!(
            "{VARIABLE} is {wanted:?} ({error}); write a level (error, warn, info, debug, trace) or TARGET=LEVEL"
        ))
    })
}

/// Below warnings only we are heard: what HTTP libraries write at TRACE holds
/// headers, and so tokens. rmcp is not heard at all: its warnings hold whatever a client
/// sent, and are about clients only.
fn discreet(metadata: &Metadata<'_>) -> bool {
    let from = metadata.target().split("::").next().unwrap_or_default();
    from.starts_with("tether") || (from != "rmcp" && *metadata.level() <= Level::WARN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_is_none_is_a_wrong_configuration() {
        for wanted in ["info", "tether_gateway=trace,info", "off"] {
            filter(wanted).unwrap();
        }
        let error = filter("info,tether=loud").unwrap_err().to_string();
        assert!(error.contains("TETHER_LOG is \"info,tether=loud\"") && error.contains("debug"), "{error}");
    }
}
