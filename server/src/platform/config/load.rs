//! Merges the layers: each setting takes the value of the highest layer that sets it. Values are
//! checked in all layers.

use telltale_engine::{Clock, Memory, MemoryOwner, Options, Retention, TierRetention};

use super::auto::ThreadCount;
use super::error::{ConfigError, Origin};
use super::layers::{self, Layer, Sources};
use super::settings::{self, Config};
use super::value::{Raw, RetentionOverride, SettingValue};
use crate::platform::process;
use crate::platform::quota::Quotas;

/// A configuration with the origin of each value.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// The same values as strings with their origins, in the order of the declaration.
    pub effective: Vec<Effective>,
}

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

impl Loaded {
    /// Reads all layers. An invalid value is an error even if a higher layer overrides it.
    pub fn from_sources(sources: &Sources) -> Result<Self, ConfigError> {
        let file = match &sources.file {
            Some((path, text)) => layers::file_layer(path, text)?,
            None => Layer::new(),
        };
        let environment = layers::environment_layer(&sources.environment)?;
        let flags = layers::flag_layer(&sources.flags)?;
        let mut reader = Reader { layers: [&file, &environment, &flags], effective: Vec::new() };
        let config = Config::read(&mut reader, process::memory_bytes())?;
        let effective = reader.effective;
        let memory_limit = effective.iter().find(|setting| setting.key == "memory.limit");
        let origin = memory_limit.map_or(Origin::Default, |setting| setting.origin.clone());
        config.plan.check(origin)?;
        Ok(Self { config, effective })
    }
}

/// Reads settings from the layers, lowest first.
pub(super) struct Reader<'a> {
    layers: [&'a Layer; 3],
    effective: Vec<Effective>,
}

impl Reader<'_> {
    /// Returns the value of a declared setting.
    pub(super) fn value<T: SettingValue>(&mut self, key: &'static str) -> Result<T, ConfigError> {
        let default = settings::all().find(|s| s.key == key).map_or("", |setting| setting.default);
        let mut origin = Origin::Default;
        let mut value = read::<T>(key, &Raw::Text(default.to_owned()), &origin)?;
        for (raw, at) in self.layers.iter().filter_map(|layer| layer.get(key)) {
            value = read(key, raw, at)?;
            origin = at.clone();
        }
        self.effective.push(Effective { key, value: value.to_toml(), origin });
        Ok(value)
    }
}

fn read<T: SettingValue>(key: &str, raw: &Raw, origin: &Origin) -> Result<T, ConfigError> {
    T::read(raw).map_err(|reason| ConfigError::Invalid {
        key: key.to_owned(),
        origin: origin.clone(),
        reason,
    })
}

impl Config {
    /// Creates the memory account of the process with the maxima planned for jobs and errors. Must
    /// be called only once.
    pub fn memory(&self) -> Memory {
        let memory = Memory::new(self.plan.limit);
        memory.plan(MemoryOwner::Jobs, self.plan.jobs_waiting);
        memory.plan(MemoryOwner::Errors, self.plan.errors());
        memory
    }

    /// Returns the options of the engine.
    pub fn engine_options(&self, clock: Clock, memory: &Memory) -> Options {
        let plan = &self.plan;
        let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let defaults = Options::default();
        let (storage, metrics) = (&self.storage, &self.metrics);
        Options {
            memory: memory.clone(),
            durability: storage.durability,
            clock,
            head_bytes: bytes(plan.head),
            head_age: storage.head_age.duration(),
            cache_bytes: bytes(plan.cache),
            event_cache_bytes: bytes(plan.event_cache),
            query_bytes: bytes(plan.query),
            compaction_bytes: bytes(plan.merge),
            query_points: metrics.query_points,
            query_buckets: metrics.query_buckets,
            query_groups: usize::try_from(self.events.query_groups).unwrap_or(usize::MAX),
            threads: storage.threads.set().map_or(defaults.threads, ThreadCount::get),
            series_per_metric: usize::try_from(metrics.series_per_metric).unwrap_or(usize::MAX),
            tag_keys_per_metric: usize::try_from(metrics.tag_keys_per_metric).unwrap_or(usize::MAX),
            series_total: usize::try_from(metrics.series_total).unwrap_or(usize::MAX),
            disk_free_bytes: storage.disk_free_bytes.bytes(),
            retention: self.retention(),
            rollup_points_min: self.storage.rollup_points_min,
            event_retention: self.retention.events.duration(),
            clock_grace: storage.clock_grace.duration(),
            maintenance: defaults.maintenance,
        }
    }

    /// Returns the quotas of keys without quotas of their own.
    pub fn quotas(&self) -> Quotas {
        let limits = &self.limits;
        Quotas {
            batch: limits.batch,
            query: limits.query,
            single: limits.single,
            other: limits.other,
        }
    }

    /// Returns the retention of metrics.
    pub fn retention(&self) -> Retention {
        let default = TierRetention {
            raw: self.retention.raw.duration(),
            minute: self.retention.minute.duration(),
            five_minutes: self.retention.five_minutes.duration(),
            hour: self.retention.hour.duration(),
            day: self.retention.day.duration(),
        };
        let overridden = |one: &RetentionOverride| TierRetention {
            raw: one.raw.map_or(default.raw, |period| period.duration()),
            minute: one.minute.map_or(default.minute, |period| period.duration()),
            five_minutes: one.five_minutes.map_or(default.five_minutes, |p| p.duration()),
            hour: one.hour.map_or(default.hour, |period| period.duration()),
            day: one.day.map_or(default.day, |period| period.duration()),
        };
        let overrides = self.storage.retention_override.iter();
        Retention {
            default,
            by_prefix: overrides.map(|one| (one.prefix.clone(), overridden(one))).collect(),
        }
    }
}
