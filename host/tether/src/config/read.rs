//! Every key, with its range and its default.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use tether_core::grant::{DatabaseGrant, Grants};
use tether_core::id::{ComponentName, DatabaseName};
use tether_core::port::databases::SqlLimits;
use tether_core::retry::RetryPolicy;
use tether_core::rule::Rule;

use super::secrets::Vault;
use super::section::{Found, Section, Source, nearest};
use super::{Actions, Component, Config, ConfigError, Flags, Limits};
use super::{endpoints, http, identities, inbox, mcp, outbound, rules, webhooks};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

pub(super) fn config(
    source: Source,
    values: Map<String, Value>,
    flags: Flags,
) -> Result<Config, ConfigError> {
    let mut variables = Vec::new();
    let mut root = Section::root(&source, values)?;

    let listen = root.parsed("listen", |text| {
        text.parse().map_err(|_| "it must be an IP address and a port, such as \"127.0.0.1:8484\"".to_owned())
    })?;
    let listen = flags.listen.or(listen).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8484)));
    let data_dir = data_dir(&mut root, &source, flags.data_dir)?;

    let mut transport = root.section("tool_transport")?;
    let retry = retry(&mut transport)?;
    let max_response_bytes = transport.bytes("max_response_bytes", 1..=64 << 20, 262_144)?;
    let extra_roots = outbound::extra_roots(&mut transport, &source)?;
    variables.extend(transport.finish()?);

    let mut section = root.section("actions")?;
    let max_attempts = section.number("max_attempts", 1..=10, 3)?;
    let keep_results = section.duration("keep_results", HOUR..=3650 * DAY, 30 * DAY)?;
    let keep_arguments = section.duration("keep_arguments", HOUR..=3650 * DAY, keep_results)?;
    let default = rules::rule(&mut section, &Rule::default())?;
    variables.extend(section.finish()?);
    let rules = rules::read(&mut root, default)?;
    let actions = Actions { max_attempts, rules, keep_results, keep_arguments };

    let mut section = root.section("limits")?;
    let limits = limits(&mut section, &retry)?;
    variables.extend(section.finish()?);

    let mut vault = Vault::new(&source);
    let mut components = Vec::new();
    for section in root.list("components")? {
        components.push(component(section, &source, &mut vault)?);
    }
    for path in flags.components {
        components.push(named_on_the_line(path)?);
    }
    unique_names(&components)?;

    let endpoints = endpoints::read(root.list("endpoints")?, &source, &mut vault)?;
    let proxies = http::read(&mut root, &mut variables)?;
    let identities = identities::read(&mut root, &mut variables)?;
    let inbox = inbox::read(&mut root, &mut variables)?;
    let mcp = mcp::read(&mut root, &mut variables)?;
    let webhooks = webhooks::read(&mut root, &mut vault)?;
    let secrets = vault.close();

    variables.extend(root.finish()?);
    known_variables(&source, &variables)?;
    Ok(Config {
        listen,
        data_dir,
        retry,
        max_response_bytes,
        extra_roots,
        secrets,
        actions,
        limits,
        components,
        endpoints,
        proxies,
        identities,
        inbox,
        mcp,
        webhooks,
    })
}

fn data_dir(root: &mut Section<'_>, source: &Source, flag: Option<PathBuf>) -> Result<PathBuf, ConfigError> {
    let from_environment = source.environment.contains_key("TETHER_DATA_DIR");
    let configured = root.text("data_dir")?.map(PathBuf::from);
    Ok(match (flag, configured) {
        (Some(flag), _) => flag,
        (None, Some(path)) if from_environment => path,
        (None, Some(path)) => source.base.join(path),
        (None, None) => PathBuf::from("tether-data"),
    })
}

fn retry(section: &mut Section<'_>) -> Result<RetryPolicy, ConfigError> {
    let max_attempts = section.number("max_attempts", 1..=10, 3)?;
    let timeout = match section.take("timeout_seconds") {
        None => Duration::from_secs(20),
        Some(found) => {
            let seconds = match &found.value {
                Value::Number(number) => number.as_f64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let fits = |timeout: &Duration| !timeout.is_zero() && *timeout <= HOUR;
            timeout
                .filter(fits)
                .ok_or_else(|| found.wrong("it must be a number of seconds, more than 0 and at most 3600"))?
        }
    };
    let jitter = section.flag("jitter")?;
    let policy =
        RetryPolicy::try_new(max_attempts, timeout).map_err(|error| ConfigError(error.to_string()))?;
    Ok(policy.with_jitter(jitter))
}

fn limits(section: &mut Section<'_>, retry: &RetryPolicy) -> Result<Limits, ConfigError> {
    let sql = SqlLimits::default();
    let max_concurrent = section.number("max_concurrent", 1..=10_000, 256)?;
    Ok(Limits {
        max_concurrent,
        max_concurrent_per_tenant: section.number("max_concurrent_per_tenant", 1..=10_000, max_concurrent)?,
        queue_time: section.duration("queue_time", Duration::ZERO..=HOUR, 5 * SECOND)?,
        memory: section.bytes("memory", 1 << 20..=4 << 30, 128 << 20)?,
        stack: section.bytes("stack", 64 << 10..=16 << 20, 512 << 10)?,
        handles: section.number("handles", 16..=1_000_000, 1_000)?,
        request_bytes: section.bytes("request_bytes", 1 << 10..=16 << 20, 8 << 20)?,
        answer_bytes: section.bytes("answer_bytes", 1 << 10..=64 << 20, 8 << 20)?,
        requests: section.number("requests", 1..=1_000, 100)?,
        sql: SqlLimits {
            max_rows: section.number("sql_rows", 1..=10_000_000, sql.max_rows)?,
            max_bytes: section.bytes("sql_bytes", 1024..=1 << 30, sql.max_bytes)?,
            transaction_time: section.duration("transaction_time", SECOND..=HOUR, sql.transaction_time)?,
            turn_time: section.duration("turn_time", SECOND..=HOUR, sql.turn_time)?,
            // A query may take as long as its call.
            read_time: retry.timeout(),
            ..sql
        },
    })
}

fn component(
    mut section: Section<'_>,
    source: &Source,
    vault: &mut Vault<'_>,
) -> Result<Component, ConfigError> {
    let name =
        section.parsed("name", |text| text.parse::<ComponentName>().map_err(|error| error.to_string()))?;
    let path = section.text("path")?;
    let databases = section.names("databases")?;
    let destinations = section.list("outbound")?.into_iter();
    let destinations = destinations.map(|section| outbound::destination(section, vault));
    let destinations = destinations.collect::<Result<_, _>>()?;
    let databases = match databases {
        Some(databases) => self::databases(&section, databases, source)?,
        None => one_database(),
    };
    let missing = section.place_of("path");
    section.finish()?;

    let path = path.ok_or_else(|| ConfigError(format!("{missing} is missing: the component's file")))?;
    let path = source.base.join(path);
    let name = name.map_or_else(|| name_of(&path), Ok)?;
    Ok(Component { name, path, grants: Grants { databases, destinations } })
}

fn databases(
    component: &Section<'_>,
    databases: Vec<(String, Found)>,
    source: &Source,
) -> Result<BTreeMap<DatabaseName, DatabaseGrant>, ConfigError> {
    let mut granted = BTreeMap::new();
    for (name, found) in databases {
        let database: DatabaseName =
            name.parse().map_err(|error| found.wrong(format!("`{name}` cannot be its name: {error}")))?;
        let place = found.place.clone();
        let grant = match found.value {
            Value::Object(values) => {
                let mut section = component.of_name(&format!("databases.{name}"), values)?;
                let place = section.place_of("sqlite");
                let path = section.text("sqlite")?;
                let shared = section.flag("shared")?;
                section.finish()?;
                let path = path.ok_or_else(|| ConfigError(format!("{place} is missing: a path")))?;
                let path = path.strip_prefix("sqlite:").unwrap_or(&path).to_owned();
                DatabaseGrant::Sqlite { path, shared }
            }
            Value::String(ref text) => match text.parse() {
                // `shared` is a word of the stored form, not of this file.
                Ok(grant) if text.starts_with("sqlite") => grant,
                _ => return Err(found.wrong("write \"sqlite\" (one file per tenant) or \"sqlite:PATH\"")),
            },
            _ => {
                return Err(
                    found.wrong("write \"sqlite\", \"sqlite:PATH\" or { sqlite = PATH, shared = true }")
                );
            }
        };
        if let Some(wrong) = misspelt(&grant) {
            return Err(ConfigError(format!("{place}: `{wrong}` stands for nothing; `{{tenant}}` does")));
        }
        granted.insert(database, at(grant, &source.base));
    }
    Ok(granted)
}

/// What of the grant's path is in braces and is not `{tenant}`.
fn misspelt(grant: &DatabaseGrant) -> Option<&str> {
    let DatabaseGrant::Sqlite { path, .. } = grant else { return None };
    let braced = path.match_indices('{').map(|(start, _)| &path[start..]);
    let mut braced = braced.map(|rest| rest.find('}').map_or(rest, |end| &rest[..=end]));
    braced.find(|placeholder| *placeholder != "{tenant}")
}

/// The grant with its path made to start at the file.
fn at(grant: DatabaseGrant, base: &Path) -> DatabaseGrant {
    match grant {
        DatabaseGrant::Sqlite { path, shared } => {
            DatabaseGrant::Sqlite { path: base.join(path).display().to_string(), shared }
        }
        own => own,
    }
}

fn named_on_the_line(path: PathBuf) -> Result<Component, ConfigError> {
    let grants = Grants { databases: one_database(), ..Grants::default() };
    Ok(Component { name: name_of(&path)?, path, grants })
}

/// What a component gets that the operator says nothing about: `main`.
fn one_database() -> BTreeMap<DatabaseName, DatabaseGrant> {
    let main = "main".parse().ok().map(|name: DatabaseName| (name, DatabaseGrant::Own));
    main.into_iter().collect()
}

/// A component is called after its file, without the ending.
pub(crate) fn name_of(path: &Path) -> Result<ComponentName, ConfigError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.parse().map_err(|error| {
        let path = path.display();
        ConfigError(format!(
            "{path} cannot be named after its file: {error}; give it a `name` in tether.toml"
        ))
    })
}

fn unique_names(components: &[Component]) -> Result<(), ConfigError> {
    let mut names = BTreeSet::new();
    for component in components {
        if !names.insert(&component.name) {
            let name = &component.name;
            return Err(ConfigError(format!("two components are named `{name}`; give one another `name`")));
        }
    }
    Ok(())
}

/// A nested variable that nothing reads is a key that is misspelled. Others may
/// be anybody's: an orchestrator sets `TETHER_PORT` for a service of that name.
fn known_variables(source: &Source, known: &[String]) -> Result<(), ConfigError> {
    let nested = source.environment.keys().filter(|name| name.starts_with("TETHER_") && name.contains("__"));
    let known = known.iter().map(String::as_str);
    for name in nested {
        if !known.clone().any(|known| known == name) {
            let advice = match nearest(name, known.clone()) {
                Some(nearest) => format!("; did you mean {nearest}?"),
                None => String::new(),
            };
            return Err(ConfigError(format!("the environment variable {name} sets no known key{advice}")));
        }
    }
    Ok(())
}
