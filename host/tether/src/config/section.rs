//! One section of a configuration, from which keys are taken one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::{ConfigError, duration, size};

/// Where values come from.
pub(super) struct Source {
    /// The file's name, for messages; empty where there is none.
    pub(super) origin: String,
    /// The folder at which relative paths of the file start.
    pub(super) base: PathBuf,
    /// The process's environment.
    pub(super) environment: BTreeMap<String, String>,
}

/// See the module.
pub(super) struct Section<'a> {
    source: &'a Source,
    /// Keys down to here, such as `["components[0]", "databases"]`.
    path: Vec<String>,
    values: BTreeMap<String, Value>,
    asked: BTreeSet<&'static str>,
    /// Those of `asked` that are values, not sections.
    settable: BTreeSet<&'static str>,
    /// Whether the environment can set keys here; not inside of lists.
    overridable: bool,
}

/// A value together with the words for where it stands.
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) place: String,
}

impl Found {
    /// An error about this value.
    pub(super) fn wrong(&self, message: impl Display) -> ConfigError {
        let shown = match &self.value {
            Value::String(text) => format!("{text:?}"),
            other => other.to_string(),
        };
        ConfigError(format!("{} is {shown}: {message}", self.place))
    }

    /// The same without the value, which may be a secret.
    pub(super) fn refused(&self, message: impl Display) -> ConfigError {
        ConfigError(format!("{}: {message}", self.place))
    }
}

impl<'a> Section<'a> {
    /// The whole configuration.
    pub(super) fn root(source: &'a Source, values: Map<String, Value>) -> Result<Self, ConfigError> {
        Self::new(source, Vec::new(), values, true)
    }

    fn new(
        source: &'a Source,
        path: Vec<String>,
        values: Map<String, Value>,
        overridable: bool,
    ) -> Result<Self, ConfigError> {
        let mut section = Self {
            source,
            path,
            values: BTreeMap::new(),
            asked: BTreeSet::new(),
            settable: BTreeSet::new(),
            overridable,
        };
        for (key, value) in values {
            let name = snake_case(&key);
            if section.values.insert(name.clone(), value).is_some() {
                return Err(ConfigError(format!("{} is written twice", section.place_of(&name))));
            }
        }
        Ok(section)
    }

    /// The words for where `key` stands.
    pub(super) fn place_of(&self, key: &str) -> String {
        let path = self.path.iter().map(String::as_str).chain([key]).collect::<Vec<_>>().join(".");
        match self.source.origin.as_str() {
            "" => format!("`{path}`"),
            origin => format!("{origin}: `{path}`"),
        }
    }

    /// The key's value: of the environment, else of the file.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Found> {
        self.asked.insert(key);
        self.settable.insert(key);
        let in_file = self.values.remove(key);
        if self.overridable {
            let variable = variable(&self.path, key);
            if let Some(text) = self.source.environment.get(&variable) {
                let place = format!("the environment variable {variable}");
                return Some(Found { value: Value::String(text.clone()), place });
            }
        }
        in_file.map(|value| Found { value, place: self.place_of(key) })
    }

    /// A whole number within `range`; the environment's are text.
    pub(super) fn number<T>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
        default: T,
    ) -> Result<T, ConfigError>
    where
        T: TryFrom<u64> + PartialOrd + Display + Copy,
    {
        Ok(self.optional_number(key, range)?.unwrap_or(default))
    }

    /// The same, where there is one.
    pub(super) fn optional_number<T>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, ConfigError>
    where
        T: TryFrom<u64> + PartialOrd + Display + Copy,
    {
        let Some(found) = self.take(key) else { return Ok(None) };
        let number = match &found.value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number =
            number.and_then(|number| T::try_from(number).ok()).filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            found.wrong(format!("it must be a whole number from {} to {}", range.start(), range.end()))
        })
    }

    /// A length of time within `range`, such as `"24h"`.
    pub(super) fn duration(
        &mut self,
        key: &'static str,
        range: RangeInclusive<Duration>,
        default: Duration,
    ) -> Result<Duration, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        let span = found.value.as_str().and_then(duration::parse);
        span.filter(|span| range.contains(span)).ok_or_else(|| {
            let [first, last] = [range.start(), range.end()].map(|span| duration::write(*span));
            found.wrong(format!(
                "it must be a time from \"{first}\" to \"{last}\", such as \"90s\" or \"24h\""
            ))
        })
    }

    /// A number of bytes within `range`, such as `"64MiB"` or `262144`.
    pub(super) fn bytes(
        &mut self,
        key: &'static str,
        range: RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        let bytes = match &found.value {
            Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
            Value::String(text) => size::parse(text),
            _ => None,
        };
        bytes.filter(|bytes| range.contains(bytes)).ok_or_else(|| {
            let [first, last] = [range.start(), range.end()].map(|bytes| size::write(*bytes));
            found.wrong(format!("it must be a size from {first} to {last}, such as 262144 or \"64MiB\""))
        })
    }

    /// A text that is not empty.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(None) };
        match &found.value {
            Value::String(text) if !text.is_empty() => Ok(Some(text.clone())),
            _ => Err(found.wrong("it must be a text that is not empty")),
        }
    }

    /// A text that is read as a `T`; its error says what it must be.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(None) };
        let parsed = found.value.as_str().ok_or_else(|| "it must be a text".to_owned()).and_then(parse);
        parsed.map(Some).map_err(|message| found.wrong(message))
    }

    /// A list of texts, each read as a `T`; its error says what it must be.
    pub(super) fn parsed_list<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<Vec<T>>, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(None) };
        let Value::Array(items) = found.value else {
            return Err(found.wrong("it must be a list of texts"));
        };
        let numbered = items.into_iter().enumerate();
        let parsed = numbered.map(|(index, value)| {
            let item = Found { value, place: self.place_of(&format!("{key}[{index}]")) };
            let text = item.value.as_str().ok_or_else(|| item.wrong("it must be a text"))?;
            parse(text).map_err(|message| item.wrong(message))
        });
        parsed.collect::<Result<_, _>>().map(Some)
    }

    /// Yes or no, which is the default; the environment's are text.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, ConfigError> {
        Ok(self.optional_flag(key)?.unwrap_or_default())
    }

    /// Yes or no, where it is said.
    pub(super) fn optional_flag(&mut self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        let Some(found) = self.take(key) else { return Ok(None) };
        let flag = match &found.value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        flag.map(Some).ok_or_else(|| found.wrong("it must be true or false"))
    }

    /// A section within this one; an empty one where it is left out.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Section<'a>, ConfigError> {
        self.asked.insert(key);
        let values = match self.values.remove(key) {
            None => Map::new(),
            Some(Value::Object(values)) => values,
            Some(value) => {
                return Err(Found { value, place: self.place_of(key) }.wrong("it must be a section"));
            }
        };
        let path = self.path.iter().cloned().chain([key.to_owned()]).collect();
        Section::new(self.source, path, values, self.overridable)
    }

    /// The sections of a list.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<Section<'a>>, ConfigError> {
        self.asked.insert(key);
        let items = match self.values.remove(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(value) => {
                let found = Found { value, place: self.place_of(key) };
                let path = self.path.iter().map(String::as_str).chain([key]);
                // `components[0]` is written `components` in TOML.
                let path: Vec<_> = path.map(|name| name.split('[').next().unwrap_or(name)).collect();
                return Err(found.wrong(format!("it must be a list; write [[{}]]", path.join("."))));
            }
        };
        let numbered = items.into_iter().enumerate();
        numbered
            .map(|(index, item)| {
                let name = format!("{key}[{index}]");
                let Value::Object(values) = item else {
                    return Err(
                        Found { value: item, place: self.place_of(&name) }.wrong("it must be a section")
                    );
                };
                let path = self.path.iter().cloned().chain([name]).collect();
                Section::new(self.source, path, values, false)
            })
            .collect()
    }

    /// The members of a section whose keys are names of the operator's own; none
    /// where it is left out.
    pub(super) fn names(&mut self, key: &'static str) -> Result<Option<Vec<(String, Found)>>, ConfigError> {
        self.asked.insert(key);
        match self.values.remove(key) {
            None => Ok(None),
            Some(Value::Object(values)) => {
                let members = values.into_iter().map(|(name, value)| {
                    let place = self.place_of(&format!("{key}.{name}"));
                    (name, Found { value, place })
                });
                Ok(Some(members.collect()))
            }
            Some(value) => Err(Found { value, place: self.place_of(key) }.refused("it must be a section")),
        }
    }

    /// The section of one of the operator's own names.
    pub(super) fn of_name(&self, key: &str, values: Map<String, Value>) -> Result<Section<'a>, ConfigError> {
        let path = self.path.iter().cloned().chain([key.to_owned()]).collect();
        Section::new(self.source, path, values, false)
    }

    /// The end of this section: whatever nobody asked for is an error. Gives the
    /// environment variables that would have been read.
    pub(super) fn finish(self) -> Result<Vec<String>, ConfigError> {
        if let Some(key) = self.values.keys().next() {
            let nearest = nearest(key, self.asked.iter().copied());
            let known = self.asked.iter().copied().collect::<Vec<_>>().join(", ");
            let advice = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known here: {known}"),
            };
            return Err(ConfigError(format!("{} is not a known key; {advice}", self.place_of(key))));
        }
        if !self.overridable {
            return Ok(Vec::new());
        }
        for section in self.asked.difference(&self.settable) {
            let variable = variable(&self.path, section);
            if self.source.environment.contains_key(&variable) {
                return Err(ConfigError(format!(
                    "the environment variable {variable} cannot set the whole of `{section}`; \
                     set its keys one by one, or use a file"
                )));
            }
        }
        Ok(self.settable.iter().map(|key| variable(&self.path, key)).collect())
    }
}

/// The environment variable of a key: sections are set apart by `__`.
fn variable(path: &[String], key: &str) -> String {
    let names = path.iter().map(String::as_str).chain([key]);
    let names: Vec<_> = names.map(str::to_ascii_uppercase).collect();
    format!("TETHER_{}", names.join("__"))
}

/// The word of `known` that `word` was probably meant to be.
pub(super) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let best = near.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, known)| known)
}

/// `ToolTransport` and `toolTransport` are `tool_transport`.
fn snake_case(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut previous = '_';
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            if previous.is_ascii_lowercase() || previous.is_ascii_digit() {
                out.push('_');
            }
            out.push(character.to_ascii_lowercase());
        } else {
            out.push(character);
        }
        previous = character;
    }
    out
}
