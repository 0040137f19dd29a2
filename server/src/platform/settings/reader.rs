//! Reading values from the layers, with the origin of each.

use std::collections::BTreeMap;

use super::error::{ConfigError, Origin};
use super::value::{Raw, SettingValue};

/// One layer: values by key, each with its origin.
pub type Layer = BTreeMap<&'static str, (Raw, Origin)>;

/// The effective value of one setting.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The section and the name, joined with a dot.
    pub key: &'static str,
    /// The value as TOML.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Reads settings from the layers above the defaults, lowest first.
#[derive(Debug)]
pub struct Reader<'a> {
    layers: Vec<&'a Layer>,
    effective: Vec<Effective>,
}

impl<'a> Reader<'a> {
    /// Returns the reader of these layers.
    pub fn new(layers: Vec<&'a Layer>) -> Self {
        Self { layers, effective: Vec::new() }
    }

    /// Returns a reader that finds the declared defaults only.
    pub fn of_defaults() -> Self {
        Self::new(Vec::new())
    }

    /// Returns the value of a setting. An invalid value is an error even if a higher layer
    /// overrides it.
    pub fn value<T: SettingValue>(
        &mut self,
        key: &'static str,
        default: &str,
    ) -> Result<T, ConfigError> {
        let mut origin = Origin::Default;
        let mut value = read::<T>(key, &Raw::Text(default.to_owned()), &origin)?;
        for (raw, at) in self.layers.iter().filter_map(|layer| layer.get(key)) {
            value = read(key, raw, at)?;
            origin = at.clone();
        }
        self.effective.push(Effective { key, value: value.to_toml(), origin });
        Ok(value)
    }

    /// Returns the values read so far, in the order of reading.
    pub fn into_effective(self) -> Vec<Effective> {
        self.effective
    }
}

fn read<T: SettingValue>(key: &str, raw: &Raw, origin: &Origin) -> Result<T, ConfigError> {
    T::read(raw).map_err(|reason| ConfigError::Invalid {
        key: key.to_owned(),
        origin: origin.clone(),
        reason,
    })
}
