//! The settings of the engine, and its options.

use std::time::Duration;

use telltale_engine::{Clock, Durability, Memory, MemoryOwner, Options, Retention, TierRetention};

use super::retention_override::RetentionOverride;
use super::sections::Config;
use crate::platform::process;
use crate::platform::settings::{
    Auto, ByteSize, Period, SettingValue, ThreadCount, quoted, settings_section,
};

settings_section! {
    /// Durability, memory and disk of the engine.
    #[derive(Clone, Debug, PartialEq)]
    "storage" StorageSettings {
        /// When a write is acknowledged: `sync` after it is synced to disk, `interval` after it is
        /// passed to the operating system, with a sync at least every so many milliseconds, `os`
        /// after it is passed to the operating system.
        durability: Durability = "sync";
        /// Size of the samples in memory before they are sealed into blocks. Up to twice this is
        /// used. `auto` is a sixteenth of `memory.limit`, at least 8 MiB and at most 32 MiB.
        head_bytes: Auto<ByteSize> = "auto";
        /// Age of the oldest sample in memory at which the head is sealed.
        head_age: Period = "10m";
        /// Size of the shared cache of blocks read from disk, an eighth of which holds blocks that
        /// queries of few series keep open; the cache of time pages takes an eighth of this in
        /// addition. `auto` is an eighth of `memory.limit`, at most 256 MiB.
        cache_bytes: Auto<ByteSize> = "auto";
        /// Size of the cache of decoded event columns, an eighth of it for numbers of distinct
        /// strings. `auto` is an eighth of `memory.limit`, at most 512 MiB.
        event_cache_bytes: Auto<ByteSize> = "auto";
        /// Minimum average number of samples per rollup cell for a rollup to be written while its
        /// samples are still kept. Lower values make queries over long ranges faster and take more
        /// disk space. Rollups of samples that expire are written in any case.
        rollup_points_min: u64 = "60";
        /// After a forward jump of the system clock, also while the server is stopped, data is not
        /// expired by the new time until the clock has kept it for the length of the jump, or for
        /// this long if that is less. `/readyz` reports it meanwhile.
        clock_grace: Period = "1d";
        /// Free disk space below which writes are refused; reads continue.
        disk_free_bytes: ByteSize = "256MiB";
        /// Number of threads that run queries, in addition to those of the requests, and
        /// compactions.
        threads: Auto<ThreadCount> = "auto";
        /// Retention of metrics by name prefix. The longest matching prefix applies; tiers that it
        /// does not set keep the general retention.
        retention_override: Vec<RetentionOverride> = "";
    }
}

settings_section! {
    /// How long events and each tier of metrics are kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "storage.retention" RetentionSettings {
        /// Raw samples.
        raw: Period = "30d";
        /// One-minute rollups of gauges and counters.
        minute: Period = "2d";
        /// Five-minute rollups.
        five_minutes: Period = "90d";
        /// One-hour rollups.
        hour: Period = "2y";
        /// One-day rollups.
        day: Period = "2y";
        /// Events.
        events: Period = "30d";
    }
}

settings_section! {
    /// Limits of metrics and their queries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "metrics" MetricSettings {
        /// Maximum number of series of one metric.
        series_per_metric: usize = "1_000_000";
        /// Maximum number of distinct tag keys of one metric.
        tag_keys_per_metric: usize = "1_000";
        /// Maximum number of series of all metrics.
        series_total: usize = "10_000_000";
        /// Maximum number of samples and rollup cells that one query may read.
        query_points: u64 = "2_000_000_000";
        /// Maximum number of buckets per series in the result of a query.
        query_buckets: u64 = "50_000";
        /// Maximum memory of one query. `auto` is a quarter of `memory.limit`, at most 512 MiB.
        query_bytes: Auto<ByteSize> = "auto";
        /// Maximum memory of a compaction of blocks, however many series or events there are. Lower
        /// values leave events with long strings in smaller blocks. `auto` is a sixteenth of
        /// `memory.limit`, at most 128 MiB.
        merge_bytes: Auto<ByteSize> = "auto";
    }
}

settings_section! {
    /// Limits of event queries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "events" EventSettings {
        /// Maximum number of groups in the result of a query.
        query_groups: usize = "100_000";
        /// Maximum number of requests that wait for new events at the same time; further ones are
        /// refused with 503 `overloaded`.
        tail_waiters_max: usize = "256";
        /// Maximum number of requests with the same key that wait for new events at the same time;
        /// further ones are refused with 503 `overloaded`.
        key_tail_waiters_max: usize = "64";
    }
}

impl SettingValue for Durability {
    const EXPECTS: &'static str = "\"sync\", \"interval:<milliseconds>\" or \"os\"";

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "sync" => Ok(Self::Sync),
            "os" => Ok(Self::Os),
            _ => text
                .strip_prefix("interval:")
                .and_then(|ms| ms.parse::<u64>().ok())
                .filter(|ms| (1..=INTERVAL_MS_MAX).contains(ms))
                .map(|ms| Self::Interval(Duration::from_millis(ms)))
                .ok_or_else(|| Self::mismatch(&format!("{text:?}"))),
        }
    }

    fn to_toml(&self) -> String {
        match self {
            Self::Sync => quoted("sync"),
            Self::Interval(every) => quoted(&format!("interval:{}", every.as_millis())),
            Self::Os => quoted("os"),
        }
    }
}

/// The longest interval between two syncs of the log: an hour. Beyond that, `os` is more honest.
const INTERVAL_MS_MAX: u64 = 3_600_000;

impl Config {
    /// Creates the memory account of the process with the maxima planned for jobs and errors. Must
    /// be called only once.
    pub fn memory(&self) -> Memory {
        if self.memory.limit == Auto::Auto && process::memory_bytes().is_none() {
            tracing::warn!(
                limit = self.plan.limit,
                "the system does not report its memory: set memory.limit"
            );
        }
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
            query_groups: self.events.query_groups,
            threads: storage.threads.set().map_or(defaults.threads, ThreadCount::get),
            series_per_metric: metrics.series_per_metric,
            tag_keys_per_metric: metrics.tag_keys_per_metric,
            series_total: metrics.series_total,
            disk_free_bytes: storage.disk_free_bytes.bytes(),
            retention: self.retention(),
            rollup_points_min: self.storage.rollup_points_min,
            event_retention: self.retention.events.duration(),
            clock_grace: storage.clock_grace.duration(),
            maintenance: defaults.maintenance,
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
