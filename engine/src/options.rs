//! The options of an engine: durability, memory budgets, limits and retention, each with its
//! default.

use std::time::Duration;

use crate::clock::Clock;
use crate::memory::Memory;
use crate::model::Interval;

/// Everything an operator may configure. `Options::default()` suits one machine with a few cores.
#[derive(Clone, Debug)]
pub struct Options {
    /// When a write is acknowledged.
    pub durability: Durability,
    /// The source of the current time.
    pub clock: Clock,
    /// The memory account, which may be shared by a whole process. The stores and the transient
    /// memory of the engine are counted there; an operation that would exceed its limit is refused.
    pub memory: Memory,
    /// Bytes that the samples and events in memory may take before they are sealed into blocks. The
    /// head takes at most twice this: one part is being sealed while the next is being filled.
    pub head_bytes: usize,
    /// Age of the oldest sample in memory at which the head is sealed, regardless of its size.
    pub head_age: Duration,
    /// Bytes of the shared cache for blocks read from disk. An eighth of it is for the blocks that
    /// queries of few series keep open.
    pub cache_bytes: usize,
    /// Bytes of the cache for decoded columns of events.
    pub event_cache_bytes: usize,
    /// Bytes of memory that one query may take.
    pub query_bytes: usize,
    /// Bytes of memory that a compaction may take, however many series or events it covers. Point
    /// blocks in progress take a part of it that does not shrink: values below 64 MiB slow
    /// compaction down and save little. Smaller values also lead to smaller blocks of events with
    /// long strings.
    pub compaction_bytes: usize,
    /// Raw samples plus rollup cells that one query may read.
    pub query_points: u64,
    /// Buckets per series that one query may return.
    pub query_buckets: u64,
    /// Groups that one event query may return.
    pub query_groups: usize,
    /// Threads that execute queries, in addition to the thread that asks, and compact blocks.
    pub threads: usize,
    /// Maximum number of series per metric.
    pub series_per_metric: usize,
    /// Maximum number of distinct tag keys per metric.
    pub tag_keys_per_metric: usize,
    /// Maximum number of series in total.
    pub series_total: usize,
    /// Bytes that must stay free on the disk; below that, writes are refused.
    pub disk_free_bytes: u64,
    /// Retention per tier.
    pub retention: Retention,
    /// Raw samples that a rollup cell must represent, on average, for the rollup to be stored in
    /// addition to the raw samples. Rollups make queries over long ranges fast and cost disk space.
    /// When the raw samples of a window expire, every rollup with a longer retention is kept in any
    /// case.
    pub rollup_points_min: u64,
    /// Retention of events.
    pub event_retention: Duration,
    /// The longest time for which a clock that jumped forward must keep its new time before data
    /// expires by it.
    pub clock_grace: Duration,
    /// Whether compaction, expiry and sealing by age run in the background.
    pub maintenance: Maintenance,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            clock: Clock::system(),
            memory: Memory::unlimited(),
            head_bytes: 32 << 20,
            head_age: Duration::from_secs(600),
            cache_bytes: 256 << 20,
            event_cache_bytes: 512 << 20,
            query_bytes: 512 << 20,
            compaction_bytes: 128 << 20,
            query_points: 2_000_000_000,
            query_buckets: 50_000,
            query_groups: 100_000,
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            series_per_metric: 1_000_000,
            tag_keys_per_metric: 1_000,
            series_total: 10_000_000,
            disk_free_bytes: 256 << 20,
            retention: Retention::default(),
            rollup_points_min: 60,
            event_retention: days(30),
            // Long enough for an operator or NTP to correct a clock, short compared with any
            // retention.
            clock_grace: days(1),
            maintenance: Maintenance::Background,
        }
    }
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// After `fdatasync`; concurrent writers share one call. Survives a power loss.
    Sync,
    /// After the operating system has the bytes; synced at least this often. Survives a kill of the
    /// process; a power loss loses at most this much time.
    Interval(Duration),
    /// After the operating system has the bytes; the operating system decides when to sync.
    /// Survives a kill of the process.
    Os,
}

/// What triggers sealing by age, compaction and expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// A maintenance thread of the engine.
    Background,
    /// Only the caller, by [`crate::Engine::seal`], [`crate::Engine::merge`],
    /// [`crate::Engine::expire`] and [`crate::Engine::persist_trusted_time`].
    Manual,
}

/// How long data is kept, by tier. If a tier was not written because it would not have been smaller
/// than the next finer one, the finer one is kept as long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retention {
    /// The retention of metrics that match no prefix.
    pub default: TierRetention,
    /// Overrides by prefix of the metric name; the longest matching prefix wins.
    pub by_prefix: Vec<(String, TierRetention)>,
}

/// How long the tiers of one metric are kept. A whole day is dropped once its last instant is
/// older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierRetention {
    /// Raw samples.
    pub raw: Duration,
    /// One-minute cells of gauges and counters. For distributions and sets these are the raw form.
    pub minute: Duration,
    /// Five-minute cells.
    pub five_minutes: Duration,
    /// One-hour cells.
    pub hour: Duration,
    /// One-day cells.
    pub day: Duration,
}

const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

#[cfg(test)]
impl TierRetention {
    /// Returns a retention of the given number of days per tier, finest first.
    pub(crate) const fn of_days([raw, minute, five_minutes, hour, day]: [u64; 5]) -> Self {
        Self {
            raw: days(raw),
            minute: days(minute),
            five_minutes: days(five_minutes),
            hour: days(hour),
            day: days(day),
        }
    }
}

impl Default for TierRetention {
    fn default() -> Self {
        Self {
            raw: days(30),
            minute: days(2),
            five_minutes: days(90),
            hour: days(730),
            day: days(730),
        }
    }
}

impl Retention {
    /// Returns the retention of the metric `name`.
    pub fn of(&self, name: &str) -> TierRetention {
        self.by_prefix
            .iter()
            .filter(|(prefix, _)| name.starts_with(prefix.as_str()))
            .max_by_key(|(prefix, _)| prefix.len())
            .map_or(self.default, |(_, retention)| *retention)
    }
}

/// The widths of the rollup tiers, finest first.
pub const TIERS: [Interval; 4] =
    [Interval::MINUTE, Interval::FIVE_MINUTES, Interval::HOUR, Interval::DAY];
