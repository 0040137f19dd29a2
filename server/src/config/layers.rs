//! The layers above the defaults: untyped values from the file, the environment and the flags.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::syntax::invalid_syntax;
use super::variables::{
    ADMIN_KEY_VARIABLE, CONFIG_VARIABLE, KEY_VARIABLE, OTHER_VARIABLES, TEST_VARIABLE_PREFIX,
    URL_VARIABLE,
};
use super::{kubernetes, sections};
use crate::platform::nearest;
use crate::platform::settings::{ConfigError, Layer, Origin, Raw, Setting};

/// The prefix of our environment variables.
const PREFIX: &str = "TELLTALE_";

/// All sources of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The path and content of the file, if there is one.
    pub file: Option<(PathBuf, String)>,
    /// The environment variables.
    pub environment: Environment,
    /// The settings on the command line.
    pub flags: Vec<Flag>,
}

/// A setting on the command line.
#[derive(Clone, Debug)]
pub struct Flag {
    /// The key of the setting.
    pub key: String,
    /// The value as typed.
    pub value: String,
    /// The flag as typed, for messages.
    pub spelled: String,
}

/// The environment variables whose names begin with `TELLTALE_`.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

/// Shows the names only: a value may be a secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Environment {
    /// Reads the environment of the process.
    pub fn of_process() -> Result<Self, ConfigError> {
        Self::new(std::env::vars_os())
    }

    /// Keeps the variables that concern this program. Fails if a value is not UTF-8.
    pub fn new(all: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, ConfigError> {
        let mut ours = BTreeMap::new();
        for (name, value) in all {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            let value = value.into_string().map_err(|_| ConfigError::Invalid {
                key: name.to_owned(),
                origin: Origin::Environment(name.to_owned()),
                reason: "the value is not UTF-8".to_owned(),
            })?;
            ours.insert(name.to_owned(), value);
        }
        Ok(Self(ours))
    }

    /// Returns the configuration file named by `TELLTALE_CONFIG`.
    pub fn config_file(&self) -> Option<PathBuf> {
        self.get(CONFIG_VARIABLE).map(PathBuf::from)
    }

    /// Returns the key in `TELLTALE_ADMIN_KEY`. Secret: it is neither printed nor logged.
    pub fn admin_key(&self) -> Option<&str> {
        self.get(ADMIN_KEY_VARIABLE)
    }

    /// Returns the server named by `TELLTALE_URL`.
    pub fn url(&self) -> Option<&str> {
        self.get(URL_VARIABLE)
    }

    /// Returns the key in `TELLTALE_KEY`. Secret, too.
    pub fn key(&self) -> Option<&str> {
        self.get(KEY_VARIABLE)
    }

    /// Returns a variable. An empty one counts as absent: shells and unit files leave such
    /// variables.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Returns the settings of the file.
pub(super) fn file_layer(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let at = |offset: usize| Origin::File { path: path.to_owned(), line: line_at(text, offset) };
    let root = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        origin: at(error.span().map_or(0, |span| span.start)),
        reason: invalid_syntax(error.message()),
    })?;
    let mut layer = Layer::new();
    flatten(root.get_ref(), "", &at, &mut layer)?;
    Ok(layer)
}

fn flatten(
    table: &DeTable<'_>,
    prefix: &str,
    at: &dyn Fn(usize) -> Origin,
    layer: &mut Layer,
) -> Result<(), ConfigError> {
    for (name, value) in table.iter() {
        let key = if prefix.is_empty() {
            name.get_ref().to_string()
        } else {
            format!("{prefix}.{}", name.get_ref())
        };
        let origin = at(name.span().start);
        if let Some(setting) = setting_named(&key) {
            layer.insert(setting.key, (raw(value.get_ref()), origin));
        } else if !is_section(&key) {
            return Err(unknown(key, origin));
        } else if let DeValue::Table(inner) = value.get_ref() {
            flatten(inner, &key, at, layer)?;
        } else {
            let reason = format!("is a section: write [{key}] above its settings");
            return Err(ConfigError::Invalid { key, origin, reason });
        }
    }
    Ok(())
}

/// Returns the settings of the environment.
pub(super) fn environment_layer(environment: &Environment) -> Result<Layer, ConfigError> {
    let mut layer = Layer::new();
    for (variable, value) in &environment.0 {
        let known = OTHER_VARIABLES.iter().any(|(name, _)| name == variable)
            || variable.starts_with(TEST_VARIABLE_PREFIX);
        if known {
            continue;
        }
        let origin = Origin::Environment(variable.clone());
        let Some(setting) = sections::all().find(|setting| {
            setting.short_variable == Some(variable.as_str()) || setting.variable() == *variable
        }) else {
            if kubernetes::is_of_a_service(variable, value) {
                continue;
            }
            return Err(unknown_variable(variable));
        };
        if value.is_empty() {
            continue;
        }
        let raw = raw_from_string(value, setting, &origin)?;
        if let Some((_, first)) = layer.insert(setting.key, (raw, origin.clone())) {
            return Err(ConfigError::Twice { key: setting.key.to_owned(), first, second: origin });
        }
    }
    Ok(layer)
}

/// Returns the settings of the command line; a later flag overrides an earlier one.
pub(super) fn flag_layer(flags: &[Flag]) -> Result<Layer, ConfigError> {
    let mut layer = Layer::new();
    for flag in flags {
        let origin = Origin::Flag(flag.spelled.clone());
        let Some(setting) = setting_named(&flag.key) else {
            return Err(unknown(flag.key.clone(), origin));
        };
        let raw = raw_from_string(&flag.value, setting, &origin)?;
        layer.insert(setting.key, (raw, origin));
    }
    Ok(layer)
}

fn setting_named(key: &str) -> Option<&'static Setting> {
    sections::all().find(|setting| setting.key == key)
}

fn is_section(key: &str) -> bool {
    sections::all()
        .any(|setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// Converts a value of the environment or of a flag. Lists may be written as in TOML: `["a", "b"]`.
fn raw_from_string(text: &str, setting: &Setting, origin: &Origin) -> Result<Raw, ConfigError> {
    if !setting.is_list || !text.trim_start().starts_with('[') {
        return Ok(Raw::Text(text.to_owned()));
    }
    match DeValue::parse(text) {
        Ok(value) => Ok(raw(value.get_ref())),
        Err(error) => Err(ConfigError::Invalid {
            key: setting.key.to_owned(),
            origin: origin.clone(),
            reason: invalid_syntax(error.message()),
        }),
    }
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map_or(Raw::Other("a number that is too large"), Raw::Integer),
        DeValue::Float(_) => Raw::Other("a number with a fraction"),
        DeValue::Boolean(_) => Raw::Other("a boolean"),
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Array(items) => Raw::List(items.iter().map(|item| raw(item.get_ref())).collect()),
        DeValue::Table(table) => Raw::Table(
            table
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), raw(value.get_ref())))
                .collect(),
        ),
    }
}

/// Returns the line number, from 1, of the byte at `offset`.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

fn unknown(key: String, origin: Origin) -> ConfigError {
    let suggestion = nearest(&key, sections::all().map(|setting| setting.key.to_owned()));
    ConfigError::Unknown { key, origin, suggestion }
}

fn unknown_variable(variable: &str) -> ConfigError {
    let others = OTHER_VARIABLES.iter().map(|(name, _)| (*name).to_owned());
    let candidates = sections::all()
        .flat_map(|setting| {
            [setting.variable()].into_iter().chain(setting.short_variable.map(str::to_owned))
        })
        .chain(others);
    ConfigError::Unknown {
        suggestion: nearest(variable, candidates),
        key: variable.to_owned(),
        origin: Origin::Environment(variable.to_owned()),
    }
}

/// Returns the most similar name. The prefix of variables is not compared, because they all share
/// it.
fn nearest(text: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    let bare = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let candidates = candidates.map(|whole| Candidate { bare: bare(&whole), whole });
    nearest::nearest(&bare(text), candidates).map(|found| found.whole)
}

/// A name and what is compared: the name without the prefix of variables.
struct Candidate {
    bare: String,
    whole: String,
}

impl AsRef<str> for Candidate {
    fn as_ref(&self) -> &str {
        &self.bare
    }
}
