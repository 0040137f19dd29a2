//! Reads the configuration from all layers.

use super::layers::{self, Sources};
use super::memory::MACHINE_BYTES_ASSUMED;
use super::sections::Config;
use crate::platform::process;
use crate::platform::settings::{ConfigError, Effective, Layer, Origin, Reader};

/// A configuration with the origin of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// The same values as strings with their origins, in the order of the declaration.
    pub effective: Vec<Effective>,
}

impl Loaded {
    /// Reads all layers. An invalid value is an error even if a higher layer overrides it.
    pub fn from_sources(sources: &Sources) -> Result<Self, ConfigError> {
        let file = match &sources.file {
            Some((path, text)) => layers::file_layer(path, text)?,
            None => Layer::new(),
        };
        let environment = layers::environment_layer(&sources.environment)?;
        let flags = layers::flag_layer(&sources.flags)?;
        let mut reader = Reader::new(vec![&file, &environment, &flags]);
        let config =
            Config::read(&mut reader, process::memory_bytes().unwrap_or(MACHINE_BYTES_ASSUMED))?;
        let effective = reader.into_effective();
        let memory_limit = effective.iter().find(|setting| setting.key == "memory.limit");
        let origin = memory_limit.map_or(Origin::Default, |setting| setting.origin.clone());
        config.plan.check(origin)?;
        Ok(Self { config, effective })
    }
}
