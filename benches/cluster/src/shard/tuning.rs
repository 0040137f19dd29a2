//! The settings of SlateDB that the design chooses, and those that a fast campaign shortens.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use slatedb::IterationOrder;
use slatedb::Settings;
use slatedb::config::{
    CompactorOptions, GarbageCollectorDirectoryOptions, GarbageCollectorOptions, ScanOptions,
};

/// Returns how a scan of everything reads. By default SlateDB asks for one block of 4 KiB after the
/// other, which takes minutes for a large log.
pub(crate) fn whole_scan(order: IterationOrder) -> ScanOptions {
    ScanOptions::default()
        .with_order(order)
        .with_read_ahead_bytes(8 << 20)
        .with_max_fetch_tasks(4)
        .with_cache_blocks(false)
}

/// When the log of SlateDB is sent to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    /// As soon as a group of records is complete.
    EachGroup,
    /// By a timer of SlateDB.
    Every(Duration),
}

impl FromStr for Flush {
    type Err = std::num::ParseIntError;

    /// Parses `group`, or milliseconds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "group" {
            return Ok(Self::EachGroup);
        }
        text.parse().map(|millis| Self::Every(Duration::from_millis(millis)))
    }
}

/// The choices.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    pub(crate) flush: Flush,
    /// A memtable becomes a table of level 0 at this size.
    pub(crate) level0_bytes: usize,
    /// Garbage collection runs this often.
    pub(crate) garbage_interval: Duration,
    /// It keeps what nothing names for this long.
    pub(crate) garbage_age: Duration,
    /// The owner looks this often for a newer manifest, and its compactor for work.
    pub(crate) poll: Duration,
    /// Where tables are cached; the data directory of a node.
    pub(crate) cache: Option<PathBuf>,
    /// Whether garbage collection guards manifests with `If-Match`.
    pub(crate) boundaries: bool,
    /// Whether SlateDB keeps blocks of tables in memory.
    pub(crate) block_cache: bool,
    /// Whether "already exists" is confirmed before SlateDB sees it, see `ConfirmedStore`.
    pub(crate) confirms: bool,
    /// Whether the clock of SlateDB is set by the store and the shard, see `ShardClock`.
    pub(crate) sets_clock: bool,
}

impl Tuning {
    /// Returns what the decision demands: `docs/decisions/0019` names the conditions.
    pub(crate) fn production() -> Self {
        Self {
            flush: Flush::EachGroup,
            level0_bytes: 64 << 20,
            garbage_interval: Duration::from_secs(300),
            garbage_age: Duration::from_secs(24 * 3600),
            poll: Duration::from_secs(1),
            cache: None,
            boundaries: true,
            block_cache: true,
            confirms: true,
            sets_clock: true,
        }
    }

    /// Returns intervals so short that compaction and garbage collection run in every round.
    pub(crate) fn campaign() -> Self {
        Self {
            level0_bytes: 256 << 10,
            garbage_interval: Duration::from_millis(700),
            garbage_age: Duration::from_millis(1400),
            poll: Duration::from_millis(300),
            ..Self::production()
        }
    }

    /// Returns them as SlateDB's settings.
    pub(crate) fn settings(&self) -> Settings {
        let garbage = GarbageCollectorDirectoryOptions {
            interval: Some(self.garbage_interval),
            min_age: self.garbage_age,
            dry_run: false,
        };
        let mut settings = Settings {
            flush_interval: match self.flush {
                Flush::EachGroup => None,
                Flush::Every(interval) => Some(interval),
            },
            manifest_poll_interval: self.poll,
            l0_sst_size_bytes: self.level0_bytes,
            compression_codec: None,
            compactor_options: Some(CompactorOptions {
                poll_interval: self.poll * 2,
                commit_compacted_interval: self.poll,
                ..CompactorOptions::default()
            }),
            garbage_collector_options: Some(GarbageCollectorOptions {
                manifest_options: Some(garbage),
                wal_options: Some(garbage),
                // Fences are never deleted: a paused owner would otherwise write where one was.
                wal_fence_options: None,
                compacted_options: Some(garbage),
                compactions_options: Some(garbage),
                detach_options: None,
                boundary_files_enabled: self.boundaries,
                ..GarbageCollectorOptions::default()
            }),
            ..Settings::default()
        };
        if let Some(worker) =
            settings.compactor_options.as_mut().and_then(|compactor| compactor.worker.as_mut())
        {
            worker.compactions_poll_interval = self.poll * 2;
        }
        settings.object_store_cache_options.root_folder.clone_from(&self.cache);
        settings
    }
}
