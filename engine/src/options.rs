//! How an engine is opened: durability, budgets, limits and retention, each with its default.

use std::time::Duration;

use crate::clock::Clock;
use crate::memory::Memory;
use crate::model::Interval;

/// Everything that an operator may choose. `Options::default()` is right for one machine of a few cores.
#[derive(Clone, Debug)]
pub struct Options {
    /// When a write is answered.
    pub durability: Durability,
    /// Where the time comes from.
    pub clock: Clock,
    /// The account of memory, which may be that of a whole process. What an engine holds and borrows is counted there, and
    /// refused where there is no room.
    pub memory: Memory,
    /// Bytes that the points and events in memory may take before they are sealed into blocks. Twice this is the most
    /// that the head takes: one half being sealed, one being filled.
    pub head_bytes: usize,
    /// The oldest point in memory is sealed after this time, whatever the size.
    pub head_age: Duration,
    /// Bytes of the shared cache for blocks read from disk.
    pub cache_bytes: usize,
    /// Bytes of the cache for columns of events that have been decoded.
    pub event_cache_bytes: usize,
    /// Bytes that one query may take.
    pub query_bytes: usize,
    /// Bytes that a merge of blocks may take, however many series or events it merges. Blocks of points under way take a part of it that
    /// does not shrink: less than 64 MiB makes merges slower and saves little. With less, events with much text are in smaller blocks.
    pub merge_bytes: usize,
    /// Raw points plus rollup cells that one query may read.
    pub query_points: u64,
    /// Buckets per series that one query may answer.
    pub query_buckets: u64,
    /// Groups that one question about events may answer.
    pub query_groups: usize,
    /// Threads that answer queries and merge blocks.
    pub threads: usize,
    /// Series of one metric.
    pub series_per_metric: usize,
    /// Distinct tag keys of one metric.
    pub tag_keys_per_metric: usize,
    /// Series in all.
    pub series_total: usize,
    /// Bytes that must stay free on the disk; below it writes are refused.
    pub disk_free_bytes: u64,
    /// How long each tier is kept.
    pub retention: Retention,
    /// Points that a cell of a rollup must stand for, on average, to be written beside them. Cells make long ranges quick and
    /// cost disk; points of a window that expire leave every rollup behind that is kept longer than they.
    pub rollup_points_min: u64,
    /// How long events are kept.
    pub event_retention: Duration,
    /// For how long a clock that jumped forward must stand by that, at most, before data expires by it.
    pub clock_grace: Duration,
    /// Whether blocks are merged, expired and sealed by age without being asked.
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
            merge_bytes: 128 << 20,
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
            // Long enough for an operator or NTP to set a clock right, short beside any retention.
            clock_grace: days(1),
            maintenance: Maintenance::Background,
        }
    }
}

/// When a write is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// After `fdatasync`; concurrent writers share one. Survives power loss.
    Sync,
    /// After the operating system has the bytes; synced at least this often. Survives a kill of the
    /// process; power loss costs at most this much.
    Interval(Duration),
    /// After the operating system has the bytes; synced when it likes. Survives a kill of the process.
    Os,
}

/// Who runs seal by age, merge and retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// A thread of the engine, within its budget.
    Background,
    /// Nobody but the caller, by [`crate::Engine::seal`], [`crate::Engine::merge`], [`crate::Engine::expire`] and
    /// [`crate::Engine::note_time`].
    Manual,
}

/// How long data is kept, by tier. A tier that was not written because it would not have been smaller lives
/// on in the finer one, which is then kept as long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retention {
    /// Retention of every metric that no rule names.
    pub default: TierRetention,
    /// Overrides by prefix of the metric name; the longest matching prefix wins.
    pub by_prefix: Vec<(String, TierRetention)>,
}

/// How long the tiers of one metric are kept; whole days are dropped when their last instant is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierRetention {
    /// Points as they came.
    pub raw: Duration,
    /// One-minute cells of gauges and counters. Those of distributions and sets are their raw form.
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
    /// So many days of each tier, finest first.
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
    /// The retention of the metric called `name`.
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
